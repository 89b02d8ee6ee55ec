import { type ChildProcess, spawn } from 'node:child_process'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { makeCertificate } from '../../../services/gateway/testing/certificate.ts'
import { call } from '../../e2e/clients/encodings.ts'
import { startOwnHouse } from '../../e2e/own-house.ts'
import { ok } from '../../examples/people.ts'
import { openChromium, withoutChromium } from '../../support/browsers/chromium.ts'
import { build, unlessThereIs } from '../build.ts'
import { environment } from '../run-commands.ts'

// keycloak-js is not among them. It calls the token endpoint with credentials, which Roster allows to no other origin.
/** Each signs a person in as its documentation says, and shows the name or the id. Nothing of them is changed. */
const relyingParties: Record<string, RelyingParty> = {
  '@auth/core': { program: 'auth-core.js', callback: '/auth/callback/roster', button: 'Sign in with Roster' },
  'express-openid-connect': { program: 'express-openid-connect.js', callback: '/callback', logout: '/logout' },
  // It knows no PKCE, and sends its secret in the form.
  'passport-openidconnect': {
    program: 'passport.js',
    callback: '/callback',
    settings: { allowMissingPkce: true, authMethodType: 'OIDC_AUTH_METHOD_TYPE_POST' },
  },
  'react-oidc-context': { program: 'pages.js react-oidc-context', callback: '/', settings: inBrowser() },
  'oidc-client-ts in a popup': {
    program: 'pages.js popup',
    callback: '/popup',
    button: 'Sign in',
    settings: inBrowser(),
  },
}

interface RelyingParty {
  program: string
  callback: string
  button?: string
  settings?: object
  /** Where it signs the person out, at Roster, too. It comes back, and asks for a sign-in. */
  logout?: string
}

function inBrowser() {
  return { appType: 'OIDC_APP_TYPE_USER_AGENT', authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
}

const why = withoutChromium || unlessThereIs('npm')

describe.skipIf(why)(`relying parties that others wrote${why}`, () => {
  const certificate = makeCertificate()
  let house: Awaited<ReturnType<typeof startOwnHouse>>
  let issuer: string
  let cwd: string
  let browser: Browser
  let program: ChildProcess | undefined

  beforeAll(async () => {
    cwd = await build('relying-parties/npm', {}, 'npm ci')
    const PORT = String(await freePort(0))
    issuer = `https://localhost:${PORT}`
    const gateway = { PORT, TLS_CERT_FILE: certificate.cert, TLS_KEY_FILE: certificate.key }
    house = await startOwnHouse({ moreGateways: [gateway] }, { PUBLIC_URL: issuer })
    browser = await openChromium()
  })
  afterAll(async () => {
    program?.kill()
    await browser?.close()
    await house?.stop()
    certificate.remove()
  })

  test.each(Object.entries(relyingParties))(
    '%s signs a person in, and out if it can',
    async (name, { callback, button, logout, ...party }) => {
      const port = String(await freePort(0))
      const origin = `http://localhost:${port}`
      const { id: projectId } = ok(await call('AddProject', { name }, house.machine))
      const back = { postLogoutRedirectUris: [origin] }
      const application = {
        projectId,
        name,
        redirectUris: [origin + callback],
        ...back,
        devMode: true,
        ...party.settings,
      }
      const { clientId, clientSecret = '' } = ok(await call('AddOIDCApplication', application, house.machine))
      await start(party.program, { ISSUER: issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT: port })

      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      await page.goto(origin)
      const popup = party.program.endsWith('popup') ? context.waitForEvent('page') : page
      if (button) await page.getByRole('button', { name: button }).click()
      const pages = await popup
      await pages.getByLabel('Login name').fill('admin')
      await pages.getByLabel('Password').fill(house.adminPassword)
      await pages.keyboard.press('Enter')
      await pages.getByRole('button', { name: 'Allow', exact: true }).click()
      await page.getByText('Signed in as').waitFor()
      expect(await page.content()).toMatch(/Signed in as \S+/)
      if (logout) {
        const returned = page.waitForRequest((request) => request.url().replace(/\/$/, '') === origin)
        await page.goto(origin + logout)
        await returned
        await page.getByLabel('Password').waitFor()
      }
      await context.close()
    },
  )

  async function start(command: string, env: Record<string, string>) {
    program?.kill()
    const all = { ...environment, ...env, NODE_EXTRA_CA_CERTS: certificate.cert }
    const started = spawn('node', command.split(' '), { cwd, env: all })
    program = started
    let said = ''
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (said += String(chunk)))
    await vi.waitFor(() => expect(said).toContain('listens at'), { timeout: 20_000 })
  }
})
