import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { plugIn } from '../../support/browsers/virtual-authenticator.ts'
import { enter, type PasskeyBrowser, passkeyBrowser } from '../../examples/passkey-browser.ts'
import { admin, newHuman, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'

let at: PasskeyBrowser

beforeAll(async () => {
  if (!withoutChromium) at = await passkeyBrowser()
})
afterAll(async () => {
  await at?.close()
  expect(at?.forbidden ?? []).toEqual([])
})

const allow = (settings: object) => at.allow(settings)
const request = (more: Record<string, string> = {}) => at.request(more)
const open = (link: string) => at.open(link)
const withPasskey = (traits = {}) => at.withPasskey(traits)

/** Another browser of the person, with the same device. */
async function elsewhere(device: Awaited<ReturnType<typeof plugIn>>, link = '', traits = {}) {
  const page = await open('about:blank')
  const here = await plugIn(page, { automaticPresenceSimulation: false, ...traits })
  await here.copy(device)
  if (link) await page.goto(link)
  return { page, device: here }
}

const touched = { automaticPresenceSimulation: true }

// Of a browser that offers no passkeys among names. A touch would else answer that question, if it came a moment later,
// instead of the button's.
async function withoutAutofill(page: Page): Promise<void> {
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
}

/** As `elsewhere`, with the button alone. */
async function elsewhereByButton(device: Awaited<ReturnType<typeof plugIn>>) {
  const other = await elsewhere(device, '', touched)
  await withoutAutofill(other.page)
  await other.page.goto(request())
  return other
}

type Step = (page: Page, device: Awaited<ReturnType<typeof plugIn>>) => Promise<unknown>
const touching: Step = async () => {}

const button = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' })

describe.skipIf(withoutChromium)(`a passkey in Chromium${withoutChromium}`, () => {
  test('is added on the page of the account, renamed, and removed', async () => {
    const { page, device } = await withPasskey()
    expect(await device.credentials()).toHaveLength(1)
    const [shown] = await page.locator('#passkeys li').allTextContents()
    expect(shown).toMatch(/Laptop.*Added: .*Not used yet/s)
    await page.getByLabel('Name', { exact: true }).fill('Old laptop')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('Old laptop').first().waitFor()
    // The device has one already, and makes no second.
    await device.touches(true)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('This device has a passkey for your account already.').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('You have none yet.').waitFor()
    await page.context().close()
  })

  test('signs in by the button, with one touch and no name', async () => {
    const { device: mine } = await withPasskey()
    const { page } = await elsewhereByButton(mine)
    const loads: string[] = []
    page.on('framenavigated', () => loads.push(page.url()))
    await button(page).click()
    await page.getByText('arrived').waitFor()
    // The page of the request, which leads on, and the application.
    expect(loads.filter((one) => one.startsWith(at.redirectUri))).toHaveLength(1)
    expect(loads.filter((one) => one.startsWith(at.url)).length).toBeLessThanOrEqual(1)
    await page.context().close()
  })

  test('signs in by autofill, without a click', async () => {
    const { device: mine } = await withPasskey()
    // Chromium's virtual authenticator answers for the person, as if they had chosen it among the names.
    const { page } = await elsewhere(mine, request(), touched)
    await page.getByText('arrived').waitFor()
    const waiting = await elsewhere(mine, request())
    expect(await waiting.page.getByLabel('Login name').getAttribute('autocomplete')).toBe('username webauthn')
    for (const one of [page, waiting.page]) await one.context().close()
  })

  test('that the person stops says so, and the password goes on', async () => {
    const { person, device: mine } = await withPasskey()
    const { page, device } = await elsewhere(mine, request())
    // Whoever cancels the question of the browser, and a device without the passkey, are alike for a page.
    for (const id of await device.credentials()) await device.remove(id)
    await device.touches(true)
    await button(page).click()
    await page.getByRole('alert').getByText('No passkey was used.').waitFor()
    await enter(page, person)
    await page.getByText('arrived').waitFor()
    await page.context().close()
  })

  test('that was removed is refused in a sentence, and the browser forgets it', async () => {
    const { person, page: account, device: mine } = await withPasskey()
    const { page, device } = await elsewhereByButton(mine)
    await account.getByRole('button', { name: 'Remove' }).click()
    await account.getByText('You have none yet.').waitFor()
    await button(page).click()
    await page.getByRole('alert').getByText('Nobody has this passkey here').waitFor()
    await expect.poll(() => device.credentials()).toEqual([])
    await enter(page, person)
    await page.getByText('arrived').waitFor()
    await page.context().close()
  })

  test('whose device does not make sure of the person opens nothing, nor does a bogus signature', async () => {
    const { device: mine } = await withPasskey()
    const { page, device } = await elsewhere(mine, '', touched)
    await device.overrides({ isBadUV: true })
    await page.goto(request())
    // It is not offered once more by itself, so nothing begins again without a click.
    await page.getByRole('alert').getByText('Your device did not check that it is you.').waitFor()
    await device.overrides({ isBadUV: false, isBogusSignature: true })
    await button(page).click()
    await page.getByRole('alert').getByText('This passkey was not accepted.').waitFor()
    await device.overrides({ isBogusSignature: false })
    await button(page).click()
    await page.getByText('arrived').waitFor()
    await page.context().close()
  })

  test('of another person is refused where a person is known', async () => {
    const [own, foreign] = [await withPasskey(), await withPasskey()]
    const { page, device } = await elsewhere(own.device, request(), touched)
    await page.getByText('arrived').waitFor()
    await device.unplug()
    const other = await plugIn(page)
    await other.copy(foreign.device)
    await withoutAutofill(page)
    await page.goto(request({ prompt: 'login' }))
    await button(page).click()
    await page.getByRole('alert').getByText('No passkey was used.').waitFor()
    await page.context().close()
  })

  test('signs in in two tabs that wait for it', async () => {
    const { device: mine } = await withPasskey()
    const { page } = await elsewhereByButton(mine)
    const second = await page.context().newPage()
    const other = await plugIn(second)
    await other.copy(mine)
    await withoutAutofill(second)
    await second.goto(request())
    await button(page).click()
    await page.getByText('arrived').waitFor()
    await button(second).click()
    await second.getByText('arrived').waitFor()
    await page.context().close()
  })

  test('is the second factor after a password', async () => {
    await allow({ forceMfa: false })
    const { person, device: mine } = await withPasskey()
    await allow({ forceMfa: true })
    const { page, device } = await elsewhere(mine, request())
    await enter(page, person)
    await page.getByRole('heading', { name: 'Confirm with a passkey' }).waitFor()
    await page.getByRole('button', { name: 'Get a code by email' }).waitFor()
    await device.touches(true)
    await button(page).click()
    await page.getByText('arrived').waitFor()
    await allow({ forceMfa: false })
    await page.context().close()
  })

  test('takes the place of a password by an invitation, once the names are typed', async () => {
    const { link } = ok(await call('AddInvitation', { email: uniqueEmail(), returnLink: {} }, admin(at.home)))
    const page = await open('about:blank')
    const device = await plugIn(page)
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the invitation' }).click()
    const instead = page.getByRole('button', { name: 'Use a passkey instead of a password' })
    await instead.click()
    // The browser says what is missing.
    expect(await device.credentials()).toHaveLength(0)
    await page.locator('#given_name').fill('Grace')
    await page.locator('#family_name').fill('Hopper')
    await instead.click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await device.credentials()).toHaveLength(1)
    await page.context().close()
  })

  test('and a password cost as many inputs and page loads as the docs say', async () => {
    const { person, device: mine } = await withPasskey()
    const counted: Record<string, { inputs: number; loads: number }> = {}
    const flow = async (name: string, where: Awaited<ReturnType<typeof elsewhere>>, steps: Step[]) => {
      const { page } = where
      let loads = 0
      page.on(
        'framenavigated',
        (frame) => frame === page.mainFrame() && page.url().startsWith(`${at.url}/ui/`) && loads++,
      )
      await page.goto(request())
      for (const step of steps) await step(page, where.device)
      await page.getByText('arrived').waitFor()
      counted[name] = { inputs: steps.length, loads }
      await page.context().close()
    }
    const unplugged = async () => ({ page: await open('about:blank'), device: mine })
    await flow('password, filled in by its manager', await unplugged(), [(page) => enter(page, person)])
    const byButton = await elsewhere(mine, '', touched)
    await withoutAutofill(byButton.page)
    // The touch is an input of its own: the device of this test gives it by itself.
    await flow('passkey by the button', byButton, [(page) => button(page).click(), touching])
    // Another one: a copy of the device above would lag behind in its counter.
    const { device: other } = await withPasskey()
    await flow('passkey by autofill', await elsewhere(other, '', touched), [touching])
    const inDocs = await readFile(new URL('../../../docs/sign-in/passkeys.md', import.meta.url), 'utf8')
    for (const [name, { inputs, loads }] of Object.entries(counted))
      expect(inDocs).toContain(`| ${name} | ${inputs} | ${loads} |`)
  })

  test('has no button without script, and the page works with the password', async () => {
    const person = await newHuman(at.home, { password: unique('Password') })
    const page = await (await at.browser.newContext({ locale: 'en-GB', javaScriptEnabled: false })).newPage()
    await page.goto(request())
    expect(await page.locator('button:visible').allTextContents()).not.toContain('Sign in with a passkey')
    await enter(page, person)
    await page.getByText('arrived').waitFor()
    await page.context().close()
  })
})
