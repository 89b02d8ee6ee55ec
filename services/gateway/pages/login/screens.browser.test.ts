import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Page } from 'playwright-core'
import {
  beginAnew,
  closePages,
  faultsOf,
  forbidden,
  gateway,
  missing,
  ofColors,
  openPages,
  show,
  users,
} from './testing/pages.ts'
import { evil, page1 } from './testing/parts.ts'
import { longNames } from './testing/long-names.ts'
import { screens } from './testing/screens.ts'

beforeAll(openPages)
afterAll(closePages)
beforeEach(beginAnew)
afterEach(() => expect(forbidden).toEqual([]))

describe.skipIf(missing)(`in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`, () => {
  // What is looked at in the usual form is looked at in one visit: to load a page takes longer than to look.
  describe.each(Object.entries(screens))('%s', (_, screen) => {
    let page: Page

    beforeAll(async () => {
      page = await show(screen, { reducedMotion: 'reduce' })
      // The tab keeps the colours of the page before.
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
      expect(forbidden).toEqual([])
    })

    test('a page with a script keeps its form-action', async () => {
      users['ShowSignIn'] = () => screen
      const answer = await fetch(gateway.url + page1)
      const policy = answer.headers.get('content-security-policy')
      const hasScript = (await answer.text()).includes('<script')
      expect(policy!.includes('script-src')).toBe(hasScript)
      expect(policy).not.toContain('unsafe-inline')
      if (hasScript) expect(policy).toContain("form-action 'self'")
    })

    test('one action at most looks like the one to take', async () => {
      const filled = `[...document.querySelectorAll('button')].filter((button) => button.offsetParent).filter((button) => {
        const { color, backgroundColor } = getComputedStyle(button)
        const probe = document.body.appendChild(document.createElement('button'))
        const primary = getComputedStyle(probe)
        const is = color === primary.color && backgroundColor === primary.backgroundColor
        probe.remove()
        return is
      }).length`
      expect(await page.evaluate(filled)).toBeLessThanOrEqual(1)
    })

    test('the keyboard reaches each control, which shows it', async () => {
      const controls = await page.locator(':is(input:not([type=hidden]), button, a, summary):visible').count()
      const reached = new Set<unknown>()
      for (let press = 0; press <= controls; press++) {
        reached.add(await page.evaluate(focused))
        await page.keyboard.press('Tab')
      }
      reached.delete(undefined)
      expect(reached.size).toBe(controls)
      expect([...reached].every((outline) => String(outline).endsWith('solid 3px'))).toBe(true)
    })

    test('nothing keeps anybody out (WCAG 2.2 AA), in any colours', async () => {
      expect(await faultsOf(page)).toEqual([])
      for (const look of [{ colorScheme: 'dark' }, { forcedColors: 'active' }] as const) {
        await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...look })
        expect(await faultsOf(page, ofColors)).toEqual([])
      }
    })

    test('what a name says is shown, and never run', async () => {
      const text = JSON.stringify(screen).replaceAll(
        /"(ada|Ada Lovelace|ada@acme.example|a•••@a•••.example|Acme Timesheets|time.acme.example|urn:x|token|s1)"/g,
        () => JSON.stringify(evil),
      )
      page = await show(JSON.parse(text) as JsonObject, { reducedMotion: 'reduce' })
      expect(await page.locator('img, main script, main style').count()).toBe(0)
      if (text.includes('onerror')) expect(await page.content()).toContain('&lt;img')
    })
  })

  test.each([...Object.entries(screens), ...Object.entries(longNames)])(
    '%s: nothing is cut off on a screen 320 pixels wide',
    async (_, screen) => {
      const viewport = { width: 320, height: 568 }
      for (const language of ['en', 'de']) {
        const page = await show(screen, { viewport, locale: language })
        expect(await page.locator('html').getAttribute('lang')).toBe(language)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      }
    },
  )
})

const folder = process.env['ROSTER_SCREENS'] ?? ''

/** ROSTER_SCREENS=folder npm run test:all -- services/gateway/pages/login/screens.browser.test.ts -t picture; ROSTER_SCREENS_OF narrows it, as sign-in-by,connect. */
test.skipIf(folder === '' || missing)(
  'every page is written as a picture, by who sets ROSTER_SCREENS',
  { timeout: 900_000 },
  async () => {
    mkdirSync(folder, { recursive: true })
    const wanted = process.env['ROSTER_SCREENS_OF']?.split(',')
    for (const locale of ['en', 'de'])
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [360, 1280])
          for (const [name, screen] of Object.entries({ ...screens, ...longNames })) {
            const file = `${name.replaceAll(/\W+/g, '-')}-${colorScheme}-${width}-${locale}.png`
            if (wanted && !wanted.some((part) => file.startsWith(part))) continue
            const page = await show(screen, { colorScheme, locale, viewport: { width, height: 640 } })
            await page.screenshot({ path: join(folder, file), fullPage: true })
          }
  },
)

const focused = `(() => {
  const { activeElement: at } = document
  if (at === document.body) return undefined
  const { outlineStyle, outlineWidth } = getComputedStyle(at)
  return [...document.querySelectorAll('input, button, a, summary')].indexOf(at) + ' ' + outlineStyle + ' ' + outlineWidth
})()`
