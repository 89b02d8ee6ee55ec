import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { inject } from 'vitest'
import { call } from '../e2e/clients/encodings.ts'
import { openChromium } from '../support/browsers/chromium.ts'
import { plugIn } from '../support/browsers/virtual-authenticator.ts'
import { newApplication } from './applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from './people.ts'
import { newProject } from './projects.ts'

const { url } = inject('roster')

export type PasskeyBrowser = Awaited<ReturnType<typeof passkeyBrowser>>

/** Chromium, an organization whose people may have passkeys, and an application of it that says `arrived`. */
export async function passkeyBrowser() {
  const application = createServer((_, response) => void response.end('arrived')).listen(0, '127.0.0.1')
  await once(application, 'listening')
  const redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/cb`
  const home = await newOrganization()
  const allow = async (settings: object) =>
    ok(await call('UpdateLoginPolicy', { settings: { allowPasskeys: true, ...settings } }, admin(home)))
  await allow({})
  const settings = {
    redirectUris: [redirectUri],
    devMode: true,
    firstParty: true,
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
  }
  const { clientId } = await newApplication(home, await newProject(home), settings)
  const browser: Browser = await openChromium()
  /** What a policy forbade. */
  const forbidden: string[] = []

  /** The address of a request to sign in. */
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

  async function close() {
    await browser.close()
    application.close()
  }

  return { url, home, redirectUri, browser, forbidden, allow, request, open, withPasskey, close }
}

export async function enter(page: Page, { userName, password }: ExampleHuman): Promise<void> {
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}
