import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, redeem, type Shown } from '../../examples/sign-in.ts'
import { type LyingUpstream, startLyingUpstream } from '../../support/upstreams/lying-upstream.ts'
import { call } from '../clients/encodings.ts'
import { type Browser, leadsTo, listProviders, press } from './provider-stage.ts'

// A sign-out here leads on to the provider (OpenID Connect RP-Initiated Logout 1.0), and from there to the application.

const { house, url } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const returnUri = 'https://app.example.com/bye'

let home: string
let application: ExampleApplication
let upstream: LyingUpstream
let silent: LyingUpstream
/** Of `upstream`; and of one that has no address for it. */
let [idpId, without] = ['', '']

beforeAll(async () => {
  if (!house) return
  const end = { end_session_endpoint: '{url}/end?of=roster' }
  ;[home, upstream, silent] = await Promise.all([newOrganization(), startLyingUpstream(end), startLyingUpstream()])
  const settings = { postLogoutRedirectUris: [returnUri] }
  application = await newWebApplication(home, await newProject(home), settings)
  ;[idpId, without] = [await newProvider(upstream.url), await newProvider(silent.url)] as [string, string]
  await listProviders(home, [idpId, without])
  for (const each of [idpId, without]) await set(each, { logoutAtProvider: true })
})
afterAll(() => Promise.all([upstream?.stop(), silent?.stop()]))
beforeEach(() => {
  for (const each of [upstream, silent])
    if (each) each.claims = { sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' }
})

async function newProvider(issuer: string) {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: 'a secret', issuer, autoRegister: true }
  return ok(await call('AddOrganizationOIDCIDP', settings, admin(home))).idpId as string
}

const set = async (id: string, sessions: object) =>
  ok(await call('SetOrganizationIDPSessions', { idpId: id, ...sessions }, admin(home)))

/** Signs in there, in a browser of its own: the ID token that the application gets. */
async function come(id = idpId, from = upstream): Promise<{ browser: Browser; idToken: string }> {
  const browser = openBrowser()
  const leaving = await press(browser, await browser.visit(authorizePath(application)), id)
  const shown = await browser.visit(from.back(leadsTo(leaving)))
  const code = new URL(shown.location || leadsTo(shown)).searchParams.get('code')!
  return { browser, idToken: (await redeem(application, code)).body['id_token'] as string }
}

const endSession = (browser: Browser, parameters: Record<string, string>) =>
  browser.visit(`/oidc/v1/end_session?${String(new URLSearchParams(parameters))}`)
const isIn = async (browser: Browser) =>
  (await browser.visit(authorizePath(application, { prompt: 'none' }))).location.includes('code=')
const sentTo = ({ location }: Pick<Shown, 'location'>) => new URL(location)
const signedOutUri = (id: string) => `${url}/ui/login/idps/${id}/signed-out`

/** Comes back as the provider sends the browser. */
function back(browser: Browser, { searchParams }: URL): Promise<Shown> {
  const { pathname } = new URL(searchParams.get('post_logout_redirect_uri')!)
  return browser.visit(`${pathname}?state=${encodeURIComponent(searchParams.get('state')!)}`)
}

describe.skipIf(!house)(`a sign-out${why}`, () => {
  test('ends the session here, goes on to the provider, and then to where the application wants it', async () => {
    const { browser, idToken } = await come()
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: returnUri, state: 'a state & more' }
    const to = sentTo(await endSession(browser, asked))
    expect(`${to.origin}${to.pathname}`).toBe(`${upstream.url}/end`)
    const { state, ...sent } = Object.fromEntries(to.searchParams)
    // Nothing of the provider is kept, so it learns the client alone.
    expect(sent).toEqual({ of: 'roster', client_id: 'roster', post_logout_redirect_uri: signedOutUri(idpId) })
    expect(state).not.toContain('app.example.com')
    expect(await isIn(browser)).toBe(false)
    expect((await back(browser, to)).location).toBe(`${returnUri}?state=a%20state%20%26%20more`)
    // The state is good at this provider alone, and any other text leads nowhere.
    for (const path of [
      `/ui/login/idps/${without}/signed-out?state=${state}`,
      `/ui/login/idps/${idpId}/signed-out?state=${state}x`,
      `/ui/login/idps/${idpId}/signed-out`,
    ]) {
      const shown = await browser.visit(path)
      expect([path, shown.status, shown.location]).toEqual([path, 200, ''])
      expect(shown.body).toContain('signed out')
    }
  })

  test('of which the person is asked leads on by a page, whose second showing leads to the application', async () => {
    const { browser } = await come()
    const asked = { client_id: application.clientId, post_logout_redirect_uri: returnUri }
    const page = await endSession(browser, asked)
    const requestId = /\/ui\/login\/([^/"]+)\/sign-out/.exec(page.body)![1]!
    const leaving = await browser.submit(page, { action: 'all' })
    const to = new URL(leadsTo(leaving))
    expect(to.pathname).toBe('/end')
    expect(await isIn(browser)).toBe(false)
    // The provider does not let go of the person, who comes back by the button of the browser.
    const again = await browser.visit(`/ui/login/${requestId}/sign-out`)
    expect(again.body).toContain(`href="${returnUri}"`)
    expect((await back(browser, to)).location).toBe(returnUri)
  })

  test('of the account page leads there, and back to that page', async () => {
    const { browser } = await come()
    const account = await browser.visit('/ui/account')
    const leaving = await browser.submit(account, { action: 'here' }, '/ui/account/sign-out')
    const to = new URL(leadsTo(leaving))
    expect(to.pathname).toBe('/end')
    expect(await isIn(browser)).toBe(false)
    expect((await back(browser, to)).status).toBe(200)
  })

  test('sends the ID token of the provider where its tokens are kept', async () => {
    await set(idpId, { logoutAtProvider: true, keepTokens: true })
    const { browser, idToken } = await come()
    const { searchParams } = sentTo(await endSession(browser, { id_token_hint: idToken }))
    const hint = searchParams.get('id_token_hint')!
    expect(JSON.parse(Buffer.from(hint.split('.')[1]!, 'base64url').toString())).toMatchObject(upstream.claims)
    expect(searchParams.has('client_id')).toBe(false)
    await set(idpId, { logoutAtProvider: true })
  })

  test('goes on without the provider where that has no such address, does not answer, or its record does not say so', async () => {
    const leave = async ({ browser, idToken }: Awaited<ReturnType<typeof come>>, more = {}) => {
      const asked = { id_token_hint: idToken, post_logout_redirect_uri: returnUri, ...more }
      const { location } = await endSession(browser, asked)
      expect(await isIn(browser)).toBe(false)
      return location
    }
    expect(await leave(await come(without, silent))).toBe(returnUri)
    // Servers take no such address.
    const state = 'x'.repeat(4000)
    expect(await leave(await come(), { state })).toBe(`${returnUri}?state=${state}`)
    const gone = await startLyingUpstream({ end_session_endpoint: '{url}/end' })
    const id = await newProvider(gone.url)
    await set(id, { logoutAtProvider: true })
    await listProviders(home, [idpId, without, id])
    gone.claims = { ...upstream.claims, sub: unique('sub'), email: uniqueEmail() }
    const person = await come(id, gone)
    await gone.stop()
    expect(await leave(person)).toBe(returnUri)
    const last = await come()
    await set(idpId, {})
    await vi.waitFor(async () => {
      const { idp } = ok(await call('GetOrganizationIDP', { idpId }, admin(home)))
      expect(idp.sessions ?? {}).not.toHaveProperty('logoutAtProvider')
    })
    expect(await leave(last)).toBe(returnUri)
  })
})
