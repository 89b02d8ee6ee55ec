import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { type Apache, findApache, startApache } from '../../e2e/oauth/apache.ts'
import { type Provider, startProvider } from '../../e2e/conformance/provider.ts'
import { openChromium, withoutChromium } from '../../support/browsers/chromium.ts'

const found = withoutChromium ? undefined : findApache()
const why = withoutChromium || (found ? '' : ' (skipped: Debian’s packages cannot be had)')
let provider: Provider
let apache: Apache
let browser: Browser

beforeAll(async () => {
  if (found === undefined) return
  provider = await startProvider()
  const port = await freePort(0)
  const [origin, callback] = [`https://localhost:${port}`, `https://localhost:${port}/callback`]
  const client = await provider.addClient('BASIC', {
    redirectUris: [callback],
    postLogoutRedirectUris: [`${origin}/bye.html`],
    backChannelLogoutUri: `https://127.0.0.1:${port}/callback?logout=backchannel`,
    allowMissingPkce: false,
    firstParty: true,
  })
  // Its processes may not read the file that the test made.
  const trusted = join(found.folder, 'trusted.pem')
  writeFileSync(trusted, provider.certificate.ca)
  const lines = [
    `OIDCProviderMetadataURL ${provider.issuer}/.well-known/openid-configuration`,
    `OIDCCABundlePath ${trusted}`,
    `OIDCClientID ${client.clientId}`,
    `OIDCClientSecret ${client.clientSecret}`,
    `OIDCRedirectURI ${callback}`,
    'OIDCPKCEMethod S256',
    'OIDCScope "openid profile"',
    'OIDCRemoteUserClaim sub',
    'OIDCInfoHook id_token',
    ...location('/', 'AuthType openid-connect', 'Require valid-user'),
    ...location('/bye.html', 'AuthType None', 'Require all granted'),
  ]
  apache = await startApache(found, lines, { port, tls: provider.certificate })
  writeFileSync(join(found.folder, 'htdocs', 'bye.html'), 'gone')
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await apache?.stop()
  await provider?.stop()
})

function location(path: string, ...lines: string[]): string[] {
  return [`<Location ${path}>`, ...lines, '</Location>']
}

/** A browser of its own whose person Apache has let in. */
async function letIn(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  await page.goto(`${apache.url}/index.html`)
  const { userName, password } = provider.person
  await page.getByLabel('Login name').fill(userName)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByText('let in').waitFor()
  return page
}

/** Whether Apache lets the browser in by its own session: without one it would send it to Roster. */
async function hasSession(page: Page): Promise<boolean> {
  const answer = await page.request.get(`${apache.url}/index.html`, { maxRedirects: 0 })
  expect([200, 302]).toContain(answer.status())
  return answer.ok()
}

async function sessionOf(page: Page): Promise<string> {
  const answer = await page.request.get(`${apache.url}/callback?info=json`)
  return ((await answer.json()) as { id_token: { sid: string } }).id_token.sid
}

const soon = { timeout: 15_000 }

describe.skipIf(why)(`Apache with mod_auth_openidc is a relying party${why}:`, () => {
  test('a session that somebody ends at Roster ends at Apache, and another one stays', async () => {
    const [ended, other] = [await letIn(), await letIn()]
    await provider.act('DeleteSession', { sessionId: await sessionOf(ended) })
    await expect.poll(() => hasSession(ended), soon).toBe(false)
    expect(await hasSession(other)).toBe(true)
    await expectNobody(ended)
    for (const page of [ended, other]) await page.context().close()
  })

  test('who signs out at Roster’s own page is signed out at Apache', async () => {
    const page = await letIn()
    await page.goto(`${provider.issuer}/oidc/v1/end_session`)
    await page.getByRole('button', { name: 'Sign out Ada L.' }).click()
    await page.getByText('You are signed out').waitFor()
    await expect.poll(() => hasSession(page), soon).toBe(false)
    await expectNobody(page)
    await page.context().close()
  })

  test('who signs out at Apache is signed out at Roster, and comes back', async () => {
    const page = await letIn()
    await page.goto(`${apache.url}/callback?logout=${encodeURIComponent(`${apache.url}/bye.html`)}`)
    await page.getByText('gone').waitFor()
    expect(page.url()).toBe(`${apache.url}/bye.html`)
    expect(await hasSession(page)).toBe(false)
    await expectNobody(page)
    await page.context().close()
  })
})

/** Apache sends the browser to Roster, where nobody is signed in. */
async function expectNobody(page: Page) {
  await page.goto(`${apache.url}/index.html`)
  await page.getByLabel('Password').waitFor()
}
