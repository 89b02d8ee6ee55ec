import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '@bufbuild/protobuf'
import { drawPng } from '#test/support/browsers/png'
import {
  answerBy,
  beginAnew,
  closePages,
  faultsOf,
  forbidden,
  missing,
  open,
  openPages,
  users,
} from './testing/pages.ts'
import { brand, page1, withForm } from './testing/parts.ts'
import { screens } from './testing/screens.ts'

beforeAll(openPages)
afterAll(closePages)
beforeEach(beginAnew)
afterEach(() => expect(forbidden).toEqual([]))

describe.skipIf(missing)(`in Chromium${missing ? ' (skipped: there is no /usr/bin/chromium)' : ''}`, () => {
  test('a brand colours the page and what is pressed, in light and in dark, and gives way to forced colours', async () => {
    users['ShowSignIn'] = () => screens['wrong password, with a brand']!
    const looks = [{}, { colorScheme: 'dark' }, { forcedColors: 'active' }] as const
    const found: unknown[] = []
    for (const look of looks) {
      const page = await open(page1, look)
      found.push(await page.evaluate(colors))
      await page.context().close()
    }
    expect(found.slice(0, 2)).toEqual([
      'rgb(246, 238, 250) rgb(122, 31, 162) rgb(255, 255, 255) 0px',
      'rgb(16, 20, 24) rgb(225, 179, 245) rgb(0, 0, 0) 0px',
    ])
    expect(found[2]).not.toContain('rgb(122, 31, 162)')
  })

  test.each(['light', 'dark'] as const)('a brand without a %s theme leaves that as it is', async (scheme) => {
    const other: JsonObject = { ...brand }
    delete other[`${scheme}Theme`]
    const found: unknown[] = []
    for (const shown of [{ cornerRadius: 0 }, other]) {
      users['ShowSignIn'] = () => ({ ...withForm, signIn: {}, brand: shown })
      const page = await open(page1, { colorScheme: scheme })
      found.push(await page.evaluate(colors))
      await page.context().close()
    }
    expect(found[1]).toBe(found[0])
  })

  test('a logo is seen above the heading, at its height, whatever it is like; one that is no more leaves no trace', async () => {
    const content = drawPng({ width: 600, height: 100, pixels: Buffer.alloc(60_100) }).toString('base64')
    answerBy({
      ShowSignIn: () => ({ ...withForm, signIn: {}, brand: { ...brand, logoHash: 'h'.repeat(43) } }),
      ShowLogo: () => ({ logo: { content } }),
    })
    const page = await open(page1, { viewport: { width: 320, height: 568 } })
    const size = `(() => {
      const { naturalWidth, height } = document.querySelector('.logo')
      return [naturalWidth, height, document.documentElement.scrollWidth]
    })()`
    await expect.poll(() => page.evaluate(size)).toEqual([600, 64, 320])
    expect(await faultsOf(page)).toEqual([])
    users['ShowLogo'] = () => ({ logo: {} })
    const without = await open(page1)
    expect(await without.locator('img').getAttribute('alt')).toBe('')
    expect(await faultsOf(without)).toEqual([])
    for (const shown of [page, without]) await shown.context().close()
  })

  test(
    'the logo for dark stands there in the dark, on pages that mails lead to as well, which have all of the brand',
    { timeout: 120_000 },
    async () => {
      const logo = drawPng({ width: 60, pixels: Buffer.alloc(488) }).toString('base64')
      const whole = { ...brand, logoHash: 'l'.repeat(43), darkLogoHash: 'd'.repeat(43), iconHash: 'i'.repeat(43) }
      const links = { privacyPolicyLink: 'https://acme.example/privacy', helpLink: 'https://acme.example/help' }
      answerBy({
        FindPageBrand: () => ({ brand: { ...whole, ...links } }),
        ShowSignIn: () => ({ ...withForm, signIn: {}, brand: whole }),
        ShowLogo: () => ({ logo: { content: logo } }),
      })
      const shown = `(() => {
      const { currentSrc, naturalWidth } = document.querySelector('.logo')
      return [currentSrc.split('/').at(-1)[0], naturalWidth, getComputedStyle(document.body).backgroundColor]
    })()`
      const resets = '/ui/reset-password?organization_id=acme#userId=u1&code=ABC234'
      const pages = [page1, resets, '/ui/verify-email?organization_id=acme', '/ui/code-sent?organization_id=acme']
      for (const path of [...pages, '/ui/forgot-password'])
        for (const javaScriptEnabled of [true, false]) {
          const light = await open(path, { javaScriptEnabled })
          await expect.poll(() => light.evaluate(shown)).toEqual(['l', 60, 'rgb(246, 238, 250)'])
          const dark = await open(path, { javaScriptEnabled, colorScheme: 'dark' })
          await expect.poll(() => dark.evaluate(shown)).toEqual(['d', 60, 'rgb(16, 20, 24)'])
          if (path !== page1 && javaScriptEnabled) expect(await faultsOf(dark)).toEqual([])
          for (const page of [light, dark]) await page.context().close()
        }
    },
  )
})

const colors = `(() => {
  const { backgroundColor, color, borderRadius } = getComputedStyle(document.querySelector('button:not([type=button])'))
  return [getComputedStyle(document.body).backgroundColor, backgroundColor, color, borderRadius].join(' ')
})()`
