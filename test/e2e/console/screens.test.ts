import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/chromium'
import { openConsole } from './console-page.ts'
import { makeScene } from './screens-scene.ts'

const folder = process.env['ROSTER_SCREENS'] ?? ''

const looks = {
  'light-1280': { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  'dark-1280': { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  'light-360': { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  'dark-360': { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
} as const

/** ROSTER_SCREENS=folder npm run test:all -- test/e2e/console/screens.test.ts; ROSTER_SCREENS_OF narrows it, as overview,person. */
test.skipIf(folder === '' || withoutChromium !== '')(
  'every view is written as a picture, by who sets ROSTER_SCREENS',
  { timeout: 900_000 },
  async () => {
    mkdirSync(folder, { recursive: true })
    const { owner, personId, projectId, appId, machine, provider } = await makeScene()
    const application = `/projects/${projectId}/applications/${appId}`
    const paths: Record<string, string> = {
      overview: '',
      people: '/people',
      'people-new': '/people/new',
      person: `/people/${personId}`,
      'person-access': `/people/${personId}/access`,
      'person-sign-in': `/people/${personId}/sign-in`,
      'person-history': `/people/${personId}/history`,
      invitations: '/invitations',
      'invitations-new': '/invitations/new',
      machines: '/machines',
      machine: `/machines/${machine}`,
      projects: '/projects',
      project: `/projects/${projectId}`,
      'project-roles': `/projects/${projectId}/roles`,
      'project-access': `/projects/${projectId}/access`,
      'project-history': `/projects/${projectId}/history`,
      applications: '/applications',
      'application-new': '/applications/new',
      application,
      'application-settings': `${application}/settings`,
      'application-secrets': `${application}/secrets`,
      'application-sign-ins': `${application}/sign-ins`,
      'sign-ins': '/sign-ins',
      'sign-ins-failed': '/sign-ins?show=failed',
      explain: `/explain?person=${personId}&application=${appId}`,
      providers: '/providers',
      'provider-new': '/providers/new',
      provider: `/providers/${provider}`,
      'provider-settings': `/providers/${provider}/settings`,
      'provider-history': `/providers/${provider}/history`,
      organization: '/organization',
      'organization-members': '/organization/members',
    }
    const wanted = process.env['ROSTER_SCREENS_OF']?.split(',')
    const browser = await openChromium()
    try {
      for (const [look, options] of Object.entries(looks)) {
        const { page, goto } = await openConsole(browser, owner, '', options)
        for (const [name, path] of Object.entries(paths)) {
          if (wanted && !wanted.includes(name)) continue
          await goto(path)
          await page.waitForLoadState('networkidle')
          await page.screenshot({ path: join(folder, `${name}-${look}.png`) })
        }
        await page.context().close()
      }
    } finally {
      await browser.close()
    }
  },
)
