import type { Page } from 'playwright-core'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enter, type PasskeyBrowser, passkeyBrowser } from '../../examples/passkey-browser.ts'
import { admin, newHuman, ok, unique } from '../../examples/people.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { plugIn } from '../../support/browsers/virtual-authenticator.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const missing = withoutChromium || (hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)')
let at: PasskeyBrowser

beforeAll(async () => {
  if (!missing) at = await passkeyBrowser()
})
afterAll(async () => {
  await at?.close()
  expect(at?.forbidden ?? []).toEqual([])
})

/** A person with an app, of which no code is used up but the first. */
async function withApp() {
  const person = await newHuman(at.home, { password: unique('Password') })
  const { userId } = person
  const { secret } = ok(await call('RegisterTOTP', { userId }, admin(at.home))) as { secret: string }
  recordSecret(secret)
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  ok(await call('VerifyTOTPRegistration', { userId, code: app.generate() }, admin(at.home)))
  return { person, code: () => app.generate({ timestamp: Date.now() + 30_000 }) }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const arrived = (page: Page) => page.getByText('arrived').waitFor()

/** As far as the page of the mailed code. */
async function forget(page: Page, { userName, email }: { userName: string; email: string }): Promise<string> {
  await page.goto(at.request())
  await page.getByLabel('Login name').fill(userName)
  await button(page, 'Forgot password?').click()
  await button(page, 'Send me a code').click()
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  return (await mailTo(email)).code
}

describe.skipIf(missing)(`a forgotten password in Chromium${missing}`, () => {
  test('leads to a passkey by the mailed code and the second factor, and the passkey signs in the next time', async () => {
    const { person, code } = await withApp()
    const page = await at.open('about:blank')
    const device = await plugIn(page)
    const mailed = await forget(page, person)
    await page.getByLabel('Code from the email').fill(mailed)
    await button(page, 'Use a passkey instead of a password').click()
    await page.getByLabel('Code from the app').fill('000000')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('This code is wrong').waitFor()
    expect(await device.credentials()).toEqual([])
    await page.getByLabel('Code from the app').fill(code())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your new passkey' }).waitFor()
    // Whoever stops the question of the device goes on where they are.
    await device.verifies(false)
    await button(page, 'Add a passkey').click()
    await page.getByRole('alert').getByText(/./).waitFor()
    await device.verifies(true)
    await page.getByLabel('Name of the new passkey').fill('Phone')
    await button(page, 'Add a passkey').click()
    await arrived(page)
    expect(await device.credentials()).toHaveLength(1)
    // By autofill, and without the app.
    await page.context().clearCookies()
    await page.goto(at.request())
    await arrived(page)
    await page.goto(`${at.url}/ui/account/passkeys`)
    expect(await page.locator('#passkeys li').allTextContents()).toEqual([expect.stringContaining('Phone')])
    await page.context().close()
  })

  test('leads to a password where the person has no second factor, and says so', async () => {
    const person = await newHuman(at.home, { password: unique('Password') })
    const page = await at.open('about:blank')
    const device = await plugIn(page)
    const mailed = await forget(page, person)
    await page.getByLabel('Code from the email').fill(mailed)
    await button(page, 'Use a passkey instead of a password').click()
    await page.getByRole('alert').getByText('you have none').waitFor()
    const password = unique('Password')
    await page.getByLabel('Code from the email').fill(mailed)
    await page.getByRole('textbox', { name: 'New password' }).fill(password)
    await button(page, 'Set password and sign in').click()
    await arrived(page)
    expect(await device.credentials()).toEqual([])
    await page.context().clearCookies()
    await page.goto(at.request())
    await enter(page, { ...person, password })
    await arrived(page)
    await page.context().close()
  })
})

describe.skipIf(withoutChromium)(`a further factor in Chromium${withoutChromium}`, () => {
  test('that the application alone asks for is passed over by a button', async () => {
    await at.allow({})
    const { person } = await at.withPasskey()
    const page = await at.open(at.request({ acr_values: 'phr' }))
    await enter(page, person)
    await page.getByRole('heading', { name: 'Confirm with a passkey' }).waitFor()
    await page.getByText('also lets you in without it').waitFor()
    await button(page, 'Go on without it').click()
    await arrived(page)
    await page.context().close()
  })
})
