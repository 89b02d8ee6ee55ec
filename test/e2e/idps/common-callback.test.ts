import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type LyingUpstream, startLyingUpstream } from '../../support/upstreams/lying-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { type Browser, enter, errorOf, identityOf, leadsTo, listProviders, press } from './provider-stage.ts'

// Providers that came from ZITADEL with the redirect URI that all of them have there.

const { url: publicUrl, house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let home: string
let application: ExampleApplication
/** Two tenants' providers, and one that does not say who answers. */
let acme: LyingUpstream
let other: LyingUpstream
let silent: LyingUpstream
let byAcme: string
let byOther: string
let own: string

const common = '/idps/callback'
const ofFirstPages = '/ui/login/login/externalidp/callback'

beforeAll(async () => {
  if (!house) return
  const saying = { authorization_response_iss_parameter_supported: true }
  ;[home, acme, other, silent] = await Promise.all([
    newOrganization(),
    startLyingUpstream(saying),
    startLyingUpstream(saying),
    startLyingUpstream(),
  ])
  application = await newWebApplication(home, await newProject(home))
  ;[byAcme, byOther, own] = await Promise.all([newProvider(acme), newProvider(other), newProvider(acme)])
  for (const idpId of [byAcme, byOther]) ok(await setCallback(idpId, 'IDP_CALLBACK_ZITADEL'))
  await listProviders(home, [byAcme, byOther, own])
})
afterAll(() => Promise.all([acme, other, silent].map((upstream) => upstream?.stop())))
beforeEach(() => {
  for (const upstream of [acme, other, silent]) if (upstream) upstream.asked.length = 0
})

async function newProvider({ url }: LyingUpstream, organization = home): Promise<string> {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: 'a secret', issuer: url }
  return ok(await call('AddOrganizationOIDCIDP', { ...settings, autoRegister: true }, admin(organization))).idpId
}

const setCallback = (idpId: string, callback: string, more = {}) =>
  call('UpdateOrganizationIDPOIDCConfig', { idpId, callback, ...more }, admin(home))

const somebody = () => ({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })

/** Begins there; and the way back, with what the provider says of itself. */
async function leave(upstream: LyingUpstream, idpId: string, browser: Browser) {
  const leaving = await press(browser, await browser.visit(authorizePath(application)), idpId)
  const back = new URL(upstream.back(leadsTo(leaving)), publicUrl)
  upstream.claims = somebody()
  const way = (changes: { to?: string; iss?: string | undefined }) => {
    const { to = back.pathname, iss } = { iss: upstream.url, ...changes }
    return `${to}${back.search}${iss === undefined ? '' : `&iss=${encodeURIComponent(iss)}`}`
  }
  return {
    way,
    state: back.searchParams.get('state')!,
    redirectUri: new URL(leadsTo(leaving)).searchParams.get('redirect_uri'),
  }
}

describe.skipIf(!house)(`a provider with the callback of ZITADEL${why}`, () => {
  test.each([
    ['IDP_CALLBACK_ZITADEL', common],
    ['IDP_CALLBACK_ZITADEL_V1', ofFirstPages],
  ])('signs people in there (%s), and its test says so', async (callback, path) => {
    const idpId = await newProvider(acme)
    await listProviders(home, [byAcme, byOther, own, idpId])
    ok(await setCallback(idpId, callback))
    ok(
      await call(
        'ReplaceOrganizationIdentityProvider',
        {
          idpId,
          name: unique('Acme'),
          oidc: { clientId: 'roster', issuer: acme.url },
          options: { isCreationAllowed: true, isAutoCreation: true },
        },
        admin(home),
      ),
    )
    const { redirectUri } = ok(await call('TestOrganizationIdentityProvider', { idpId }, admin(home)))
    expect(redirectUri).toBe(publicUrl + path)
    acme.asked.length = 0
    const browser = openBrowser()
    const begun = await leave(acme, idpId, browser)
    expect(begun.redirectUri).toBe(redirectUri)
    expect((await identityOf(application, await browser.visit(begun.way({}))))['sub']).toBeTruthy()
    expect(acme.asked.map((each) => each.get('redirect_uri'))).toEqual([redirectUri])
    // Back to its own.
    ok(await setCallback(idpId, 'IDP_CALLBACK_OWN'))
    expect((await leave(acme, idpId, openBrowser())).redirectUri).toBe(`${publicUrl}/ui/login/idps/${idpId}/callback`)
  })

  test("takes no answer of another tenant's provider, and its code goes nowhere", async () => {
    const browser = openBrowser()
    const begun = await leave(acme, byAcme, browser)
    const shown = await browser.visit(begun.way({ iss: other.url }))
    expect(errorOf(shown)).toContain('could not be accepted')
    expect([acme.asked, other.asked]).toEqual([[], []])
  })

  test.each<[string, () => { to?: string; iss?: string | undefined }]>([
    ['without iss', () => ({ iss: undefined })],
    ["at the provider's own address", () => ({ to: `/ui/login/idps/${byAcme}/callback` })],
    ['at the address of the first pages', () => ({ to: ofFirstPages })],
  ])('takes no answer %s', async (_, changes) => {
    const browser = openBrowser()
    const { way } = await leave(acme, byAcme, browser)
    expect(errorOf(await browser.visit(way(changes())))).toContain('could not be accepted')
    expect(acme.asked).toEqual([])
  })

  test('takes no answer to the beginning of a provider with an address of its own', async () => {
    for (const to of [common, ofFirstPages]) {
      const browser = openBrowser()
      const { way } = await leave(acme, own, browser)
      expect(errorOf(await browser.visit(way({ to })))).toContain('could not be accepted')
    }
    expect(acme.asked).toEqual([])
  })

  test('takes no answer in another browser, or posted, or of a state that nobody began', async () => {
    const browser = openBrowser()
    const { way, state } = await leave(acme, byAcme, browser)
    expect((await openBrowser().visit(way({}))).body).not.toContain('name="password"')
    const forged = way({}).replace(state, `${state.split('.')[0]}.${'x'.repeat(43)}`)
    expect((await browser.visit(forged)).body).toContain('name="password"')
    const posted = await fetch(publicUrl + common, {
      method: 'POST',
      body: new URLSearchParams({ state, code: 'a code' }),
    })
    expect(posted.status).toBe(405)
    expect(acme.asked).toEqual([])
    expect((await identityOf(application, await browser.visit(way({}))))['sub']).toBeTruthy()
  })

  test('has to say that it sends iss, when it is set and at each beginning', async () => {
    const idpId = await newProvider(silent)
    const refused = factsOf(await setCallback(idpId, 'IDP_CALLBACK_ZITADEL'))
    expect(refused).toMatchObject({ reason: 'VALIDATION_FAILED', fields: ['callback'] })
    const { idp } = ok(await call('GetOrganizationIDP', { idpId }, admin(home)))
    expect(idp.oidc.callback).toBeUndefined()
    const moved = factsOf(
      await call('UpdateOrganizationIDPOIDCConfig', { idpId: byOther, issuer: silent.url }, admin(home)),
    )
    expect(moved).toMatchObject({ reason: 'VALIDATION_FAILED', fields: ['issuer'] })
    // ZITADEL's method asks nobody.
    const settings = { idpId: byOther, name: unique('Acme'), clientSecret: 'a secret' }
    const replace = ({ url }: LyingUpstream) =>
      call(
        'ReplaceOrganizationIdentityProvider',
        { ...settings, oidc: { clientId: 'roster', issuer: url } },
        admin(home),
      )
    ok(await replace(silent))
    const browser = openBrowser()
    const page = await press(browser, await browser.visit(authorizePath(application)), byOther)
    expect(errorOf(page)).toContain('does not work at the moment')
    const { checks } = ok(await call('TestOrganizationIdentityProvider', { idpId: byOther }, admin(home)))
    expect(checks.find(({ kind }: { kind: string }) => kind === 'IDP_CHECK_KIND_ENDPOINTS')).toMatchObject({
      result: 'IDP_CHECK_RESULT_FAULTY',
      problem: expect.stringContaining('authorization_response_iss_parameter_supported'),
    })
    ok(await replace(other))
  })

  test('shows there what it says to whoever tries it', async () => {
    // An owner has ten tests a minute.
    const organization = await newOrganization()
    const [owner, idpId] = await Promise.all([newMember(organization, ['ORG_OWNER']), newProvider(acme, organization)])
    const by = { token: owner.token, organization }
    ok(await call('UpdateOrganizationIDPOIDCConfig', { idpId, callback: 'IDP_CALLBACK_ZITADEL' }, by))
    const browser = openBrowser()
    await enter(browser, await browser.visit(authorizePath(application)), owner)
    const tried = async (to: string) => {
      const { url } = ok(await call('TryOrganizationIdentityProvider', { idpId }, by))
      const { search } = new URL(acme.back(url), publicUrl)
      acme.claims = somebody()
      return browser.visit(`${to}${search}&iss=${encodeURIComponent(acme.url)}`)
    }
    expect((await tried(common)).body).toContain(acme.claims['sub'])
    for (const to of [ofFirstPages, `/ui/login/idps/${idpId}/callback`])
      expect((await tried(to)).body).not.toContain(acme.claims['sub'])
  })
})
