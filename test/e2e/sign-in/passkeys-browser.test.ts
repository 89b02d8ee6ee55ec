import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openChromium, withoutChromium } from '../../support/chromium.ts'
import { plugIn } from '../../support/virtual-authenticator.ts'
import { newApplication } from '../../examples/applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

const { url } = inject('roster')

let browser: Browser
let application: Server
let redirectUri: string
let clientId: string
let home: string
/** What a policy forbade. */
const forbidden: string[] = []

beforeAll(async () => {
  if (withoutChromium) return
  application = createServer((_, response) => void response.end('arrived')).listen(0, '127.0.0.1')
  await once(application, 'listening')
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`
  home = await newOrganization()
  await allow({})
  const settings = {
    redirectUris: [redirectUri],
    devMode: true,
    firstParty: true,
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
  }
  clientId = (await newApplication(home, await newProject(home), settings)).clientId
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  application?.close()
  expect(forbidden).toEqual([])
})

const allow = async (settings: object) =>
  ok(await call('UpdateLoginPolicy', { settings: { allowPasskeys: true, ...settings } }, admin(home)))

function request(more: Record<string, string> = {}): string {
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url')
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const own = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid' }
  return `${url}/oauth/v2/authorize?${new URLSearchParams({ ...own, ...pkce, state: 's', ...more }).toString()}`
}

async function open(link: string): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) forbidden.push(message.text())
  })
  if (link) await page.goto(link)
  return page
}

async function enter(page: Page, { userName, password }: ExampleHuman) {
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

/** A person with a passkey on a device of the browser, which signs only when it is touched. */
async function withPasskey(traits: Parameters<typeof plugIn>[1] = {}) {
  const person = await newHuman(home, { password: unique('Password') })
  const page = await open('about:blank')
  const device = await plugIn(page, traits)
  await page.goto(`${url}/ui/account/passkeys`)
  await enter(page, person)
  await page.getByLabel('Name of the new passkey').fill('Laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Your passkey is added.').waitFor()
  await device.touches(false)
  return { person, page, device }
}

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
    expect(loads.filter((one) => one.startsWith(redirectUri))).toHaveLength(1)
    expect(loads.filter((one) => one.startsWith(url)).length).toBeLessThanOrEqual(1)
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
    const { link } = ok(await call('AddInvitation', { email: uniqueEmail(), returnLink: {} }, admin(home)))
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
    const flow = async (name: string, at: Awaited<ReturnType<typeof elsewhere>>, steps: Step[]) => {
      const { page } = at
      let loads = 0
      page.on('framenavigated', (frame) => frame === page.mainFrame() && page.url().startsWith(`${url}/ui/`) && loads++)
      await page.goto(request())
      for (const step of steps) await step(page, at.device)
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
    const person = await newHuman(home, { password: unique('Password') })
    const page = await (await browser.newContext({ locale: 'en-GB', javaScriptEnabled: false })).newPage()
    await page.goto(request())
    expect(await page.locator('button:visible').allTextContents()).not.toContain('Sign in with a passkey')
    await enter(page, person)
    await page.getByText('arrived').waitFor()
    await page.context().close()
  })
})
