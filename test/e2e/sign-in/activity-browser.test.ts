import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type ExampleHuman, newHuman, newOrganization, unique } from '../../examples/people.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url } = inject('roster')
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const android =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36'

let browser: Browser
let ada: ExampleHuman

beforeAll(async () => {
  if (missing) return
  ada = await newHuman(await newOrganization(), { password: unique('Password') })
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(() => browser?.close())

async function comeIn(options: Parameters<Browser['newContext']>[0]) {
  const page = await (await browser.newContext({ userAgent, timezoneId: 'Asia/Kathmandu', ...options })).newPage()
  await page.goto(`${url}/ui/account/activity`)
  await page.locator('[name=login_name]').fill(ada.userName)
  await page.locator('[name=password]').fill(ada.password)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/ui/account/activity')
  return page
}

describe.skipIf(missing)(`the page of activity${missing ? ' (skipped: there is no Chromium)' : ''}`, () => {
  test('shows browser, system, address and times, with a script in the zone of the reader', async () => {
    const plain = await comeIn({ locale: 'en-GB', javaScriptEnabled: false })
    expect(await plain.locator('#session-0').textContent()).toMatch(
      /This browser\s+·\s+Firefox on Linux\s+Signed in: .+ UTC\s+.*from \S+/s,
    )
    expect(await plain.locator('#sign-in-0').textContent()).toMatch(/Firefox on Linux.*UTC.*from \S+/s)
    const page = await comeIn({ locale: 'de-DE' })
    const shown = page.locator('#sign-in-0 time')
    const at = new Date((await shown.getAttribute('datetime'))!)
    const clock = new Intl.DateTimeFormat('de', { timeStyle: 'short', timeZone: 'Asia/Kathmandu' }).format(at)
    expect(await shown.textContent()).toMatch(new RegExp(`^(heute|gestern), ${clock}$`))
  })

  test('ends what was not the person, by the keyboard, and asks for a new password', async () => {
    const stolen = await comeIn({ userAgent: android })
    const page = await comeIn({ locale: 'en-GB', javaScriptEnabled: false })
    const there = page.getByRole('listitem').filter({ hasText: 'Chrome on Android' }).first()
    await there.getByRole('button', { name: 'This wasn’t me' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/ui/account/password?outcome=not-me')
    expect(await page.getByRole('status').textContent()).toContain('It is signed out there')
    await page.getByLabel('New password').waitFor()
    await stolen.goto(`${url}/ui/account/activity`)
    await stolen.locator('[name=login_name]').waitFor()
    // This browser is signed in, and the list still has that sign-in.
    await page.goto(`${url}/ui/account/activity`)
    expect(await page.locator('[id^=session-]').allTextContents()).not.toContainEqual(
      expect.stringContaining('Android'),
    )
    expect(await page.locator('[id^=sign-in-]').allTextContents()).toContainEqual(expect.stringContaining('Android'))
  })
})
