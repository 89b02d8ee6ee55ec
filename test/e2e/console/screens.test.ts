import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { openChromium, withoutChromium } from '#test/support/browsers/chromium'
import { newMember, newOrganization } from '../../examples/people.ts'
import { openConsole } from './console-page.ts'
import { makeScene } from './screens-scene.ts'

const folder = process.env['ROSTER_SCREENS'] ?? ''

const looks = {
  'light-1280': { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  'dark-1280': { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  'light-360': { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  'dark-360': { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
  'de-360': { colorScheme: 'light', viewport: { width: 360, height: 740 }, locale: 'de-DE' },
} as const

/** ROSTER_SCREENS=folder npm run test:all -- test/e2e/console/screens.test.ts; ROSTER_SCREENS_OF narrows it, as overview,provider. */
test.skipIf(folder === '' || withoutChromium !== '')(
  'every view is written as a picture, by who sets ROSTER_SCREENS',
  { timeout: 900_000 },
  async () => {
    mkdirSync(folder, { recursive: true })
    const { owner, personId, projectId, appId, machine, provider, providers } = await makeScene()
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
      'provider-roles': `/providers/${provider}/roles`,
      'provider-people': `/providers/${provider}/people`,
      'provider-history': `/providers/${provider}/history`,
      ...Object.fromEntries(
        Object.entries(providers).flatMap(([kind, id]) => [
          [`provider-${kind}`, `/providers/${id}`],
          [`provider-${kind}-settings`, `/providers/${id}/settings`],
        ]),
      ),
      'provider-roles-none': `/providers/${providers.incomplete}/roles`,
      'provider-people-none': `/providers/${providers.incomplete}/people`,
      organization: '/organization',
      'organization-members': '/organization/members',
    }
    const wanted = process.env['ROSTER_SCREENS_OF']?.split(',')
    const browser = await openChromium()
    try {
      for (const [look, options] of Object.entries(looks))
        for (const [person, views] of [
          [owner, paths],
          [await newOwner(), bare],
        ] as const) {
          const { page, goto } = await openConsole(browser, person, '', options)
          for (const [name, path] of Object.entries(views)) {
            if (wanted && !wanted.some((part) => name.startsWith(part))) continue
            const take = async (of: Page, state = '') => {
              await of.waitForLoadState('networkidle')
              // Bars that stick to an edge would cover what a picture of a whole page shows.
              const height = Math.max(options.viewport.height, Number(await of.evaluate('document.body.scrollHeight')))
              await of.setViewportSize({ ...options.viewport, height })
              await of.screenshot({ path: join(folder, `${name}${state}-${look}.png`) })
              await of.setViewportSize(options.viewport)
            }
            await goto(path)
            await take(page)
            for (const [state, act] of Object.entries(states[name] ?? {})) {
              // One of its own: what is typed there holds the browser up.
              const other = await page.context().newPage()
              await other.goto(page.url())
              await other.waitForLoadState('networkidle')
              await act(other)
              await take(other, `-${state}`)
              await other.close()
            }
          }
          await page.context().close()
        }
    } finally {
      await browser.close()
    }
  },
)

const newOwner = async () => newMember(await newOrganization(), ['ORG_OWNER'])

/** Of an organization that has nothing yet. */
const bare = Object.fromEntries(
  ['', '/invitations', '/machines', '/projects', '/applications', '/sign-ins', '/explain', '/providers'].map((path) => [
    `bare-${path.slice(1) || 'overview'}`,
    path,
  ]),
)

const press = (selector: string) => (page: Page) => page.locator(selector).first().click()

/** What views show once something is pressed in them. Words differ by language, so places are named. */
const states: Record<string, Record<string, (page: Page) => Promise<void>>> = {
  'provider-new': Object.fromEntries(
    ['microsoft', 'github', 'apple', 'oauth', 'jwt'].map((kind) => [
      kind,
      async (page) => void (await page.locator('[name=kind]').selectOption(kind)),
    ]),
  ),
  provider: {
    tested: async (page) => {
      await press('.cols .stack:nth-child(2) .title button')(page)
      await page.locator('.cols ul.line, .cols .problem').first().waitFor()
    },
    tried: async (page) => {
      await press('.cols .stack:nth-child(2) .card:nth-child(2) .title button')(page)
      await page.locator('.cols :is(a.primary, .problem)').first().waitFor()
    },
    hiding: press('.cols button.danger'),
  },
  'provider-settings': { replacing: press('.card > .title button') },
  'provider-roles': { adding: press('.card > .title button'), removing: press('td button.danger') },
}
