import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newHuman, newOrganization, unique, uniqueEmail } from '../../examples/people.ts'
import { recordSecret } from '../clients/encodings.ts'
import { hasMailbox, linkTo, mailTo, noticeTo } from '../mailbox.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const { url } = inject('roster')
const owners = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const thiefs =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36'

let browser: Browser
beforeAll(async () => {
  if (missing) return
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args })
})
afterAll(() => browser?.close())

const open = async (options: Parameters<Browser['newContext']>[0] = {}) =>
  (await browser.newContext({ userAgent: owners, locale: 'en-GB', ...options })).newPage()

async function comeIn(page: Page, name: string, password: string) {
  await page.goto(`${url}/ui/account/activity`)
  await page.locator('[name=login_name]').fill(name)
  await page.locator('[name=password]').fill(password)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/ui/account/activity')
}

describe.skipIf(missing || !hasMailbox())(
  `a stolen session${missing ? ' (skipped: there is no Chromium)' : ''}`,
  () => {
    test('that changes address and password and ends the sign-ins is told to the owner, who takes all back by keyboard', async () => {
      const ada = await newHuman(await newOrganization(), { password: unique('Password') })
      const owner = await open()
      await comeIn(owner, ada.userName, ada.password)

      const thief = await open({ userAgent: thiefs, storageState: await owner.context().storageState() })
      const email = uniqueEmail()
      await thief.goto(`${url}/ui/account/email`)
      await thief.getByLabel('New email address').fill(email)
      await thief.keyboard.press('Enter')
      await thief.locator('[name=code]').fill((await mailTo(email)).code)
      await thief.keyboard.press('Enter')
      await thief.getByText('The address is verified.').waitFor()
      await thief.goto(`${url}/ui/account/password`)
      const password = unique('Thief')
      recordSecret(password)
      await thief.getByLabel('New password').fill(password)
      await thief.keyboard.press('Enter')
      await thief.waitForURL('**/ui/account/sign-in?outcome=password-set')
      await thief.goto(`${url}/ui/account/activity`)
      // Nothing there takes a sign-in off the list.
      expect(await thief.locator('[id^=sign-in-] button').count()).toBe(0)
      await thief.getByRole('button', { name: 'Sign out everywhere' }).click()
      await thief.locator('[name=login_name]').waitFor()
      await comeIn(thief, email, password)

      // The owner opens the link of the mail on any device.
      const notice = await noticeTo(ada.email)
      expect(notice.subject).toBe('The address of your account was changed')
      const link = linkTo(notice.text)
      const plain = await open({ javaScriptEnabled: false })
      await plain.goto(link)
      expect(await plain.getByLabel('Link from the email').isVisible()).toBe(true)
      const page = await open()
      await page.goto(link)
      expect(page.url()).toMatch(/\/ui\/take-back\?organization_id=[\w-]+$/)
      expect(await page.getByLabel('Link from the email').isVisible()).toBe(false)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'You have your account back' }).waitFor()
      await thief.reload()
      await thief.locator('[name=login_name]').waitFor()

      await page.getByRole('link', { name: 'New password' }).click()
      await page.locator('#login-name').fill(ada.email)
      await page.keyboard.press('Enter')
      await page.goto((await mailTo(ada.email)).link)
      const renewed = unique('Owner')
      recordSecret(renewed)
      await page.locator('#password').fill(renewed)
      await page.locator('#repeated').fill(renewed)
      await page.keyboard.press('Enter')
      await page.getByText('Your password is set').first().waitFor()
      await comeIn(page, ada.email, renewed)
      // The owner sees what the thief did with it.
      expect(await page.locator('[id^=sign-in-]').allTextContents()).toContainEqual(
        expect.stringContaining('Chrome on Android'),
      )
    }, 60_000)
  },
)
