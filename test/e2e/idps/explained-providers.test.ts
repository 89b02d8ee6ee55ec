import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { call } from '../clients/encodings.ts'
import { claimsOf, comeByProvider, errorOf, identityOf, listProviders } from './provider-stage.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
let home: string
let application: ExampleApplication
let upstream: PeopleUpstream

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  application = await newWebApplication(home, await newProject(home))
})
afterAll(() => upstream?.stop())

const act = async (operation: Parameters<typeof call>[0], request: object, organization = home) =>
  ok(await call(operation, { ...request }, admin(organization)))

async function newProvider(more: object = {}, organization = home) {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: secret, issuer: upstream.url }
  return (await act('AddOrganizationOIDCIDP', { ...settings, autoRegister: true, ...more }, organization))
    .idpId as string
}

const comeBy = (idpId: string) => comeByProvider({ application, upstream }, idpId)

async function newPersonOf(idpId: string): Promise<string> {
  upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
  return (await identityOf(application, (await comeBy(idpId)).shown))['sub']
}

async function explain(userId: string) {
  const { nextSignIn } = await act('ExplainSignIn', { userId, clientId: application.clientId })
  const short = (text: string) => text.replace(/^SIGN_IN_(REASON|OUTCOME|PROVIDER_STATE)_/, '')
  return {
    outcome: short(nextSignIn.outcome),
    obstacles: (nextSignIn.obstacles ?? []).map(({ reason }: { reason: string }) => short(reason)),
    providers: Object.fromEntries(
      (nextSignIn.providers ?? []).map((one: any) => [one.idpId, [short(one.state), one.name ?? '']]),
    ),
  }
}

describe.skipIf(!house)(`what is wrong with a sign-in at a provider can be found${why}:`, () => {
  test('ExplainSignIn says of each provider what it is to the person, and whether one lets them in', async () => {
    const name = unique('Acme')
    const [making, other] = [await newProvider({ name }), await newProvider({ name: unique('Other') })]
    const foreign = await newProvider({}, await newOrganization())
    const saml = (await act('AddOrganizationSAMLIDP', { name: unique('SAML'), metadataUrl: 'https://saml.example/m' }))
      .idpId
    const unknown = unique('unknown')
    await act('UpdateLoginPolicy', {
      settings: { identityProviders: { idpIds: [foreign, unknown, saml, making, other] } },
    })
    const shown = async () => (await act('GetLoginPolicy', {})).policy.identityProviders
    await vi.waitFor(async () => expect(await shown()).toEqual([making, other]), 10_000)
    const userId = await newPersonOf(making)
    const ready = await explain(userId)
    // Neither a password nor a proved address is needed by who comes by a provider.
    expect(ready).toMatchObject({ outcome: 'SUCCEEDS', obstacles: [] })
    expect(ready.providers).toMatchObject({
      [foreign]: ['NOT_THERE', ''],
      [unknown]: ['NOT_THERE', ''],
      [saml]: ['NO_SIGN_IN', expect.stringContaining('SAML')],
      [making]: ['READY', name],
      [other]: ['NOT_LINKED', expect.stringContaining('Other')],
    })
    await listProviders(home, [other])
    const shutOut = { outcome: 'FAILS', obstacles: expect.arrayContaining(['NO_PASSWORD', 'PROVIDER']) }
    expect(await explain(userId)).toMatchObject({ ...shutOut, providers: { [making]: ['NOT_LISTED', name] } })
    await listProviders(home, [making])
    await act('DeactivateOrganizationIDP', { idpId: making })
    await vi.waitFor(async () => expect((await explain(userId)).providers[making]).toEqual(['INACTIVE', name]), 10_000)
    expect(await explain(userId)).toMatchObject(shutOut)
    await act('ReactivateOrganizationIDP', { idpId: making })
    await vi.waitFor(async () => expect((await explain(userId)).providers[making]).toEqual(['READY', name]), 10_000)
    ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    try {
      expect(await explain(userId)).toMatchObject({ ...shutOut, providers: { [making]: ['ROLE_ON_INSTANCE', name] } })
    } finally {
      ok(await call('RemoveInstanceMember', { userId }, admin()))
    }
    await act('RemoveOrganizationIDP', { idpId: making })
    await vi.waitFor(async () => expect((await explain(userId)).providers[making]).toEqual(['NOT_THERE', '']), 10_000)
    // Who never came by a provider is told of its state alone.
    const { userId: ada } = await newHuman(home, { password: unique('Password') })
    expect(await explain(ada)).toMatchObject({ outcome: 'SUCCEEDS', obstacles: [] })
  })

  test('ExplainSignIn knows where providers alone sign in, and what an address connects, or does not', async () => {
    const [domain, password] = [`${unique('d')}.example`, unique('Password')]
    const idpId = await newProvider({ autoRegister: false })
    const own = { idpIds: [idpId], domains: [{ domain, idpId, trusted: true }] }
    const at = (name: string) => ({ email: `${unique(name)}@${domain}`, password })
    const [ada, bob, eve] = await Promise.all([
      newHuman(home, at('ada')),
      newHuman(home, at('bob')),
      newHuman(home, { password }),
    ])
    ok(await call('ConfirmOrganizationDomain', { orgId: home, domain }, admin()))
    await act('UpdateLoginPolicy', { settings: { identityProviders: own } })
    const has = async ({ userId }: { userId: string }) => {
      const { outcome, obstacles, providers } = await explain(userId)
      return [outcome, obstacles, providers[idpId]?.[0]]
    }
    await vi.waitFor(async () => expect(await has(ada)).toEqual(['SUCCEEDS', [], 'CONNECTS']), 10_000)
    expect(await has(eve)).toEqual(['SUCCEEDS', [], 'NOT_LINKED'])
    upstream.person = { sub: unique('sub'), claims: { ...claimsOf('Ada'), email: ada.email, email_verified: true } }
    expect((await identityOf(application, (await comeBy(idpId)).shown))['sub']).toBe(ada.userId)
    await act('UpdateLoginPolicy', { settings: { allowUsernamePassword: false, identityProviders: own } })
    expect(await has(ada)).toEqual(['SUCCEEDS', [], 'READY'])
    expect(await has(bob)).toEqual(['SUCCEEDS', [], 'CONNECTS'])
    expect(await has(eve)).toEqual(['FAILS', ['PROVIDER'], 'CANNOT_CONNECT'])
    // By the password, which everybody with a role keeps.
    for (const { userId } of [ada, bob]) await act('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] })
    expect(await has(ada)).toEqual(['SUCCEEDS', [], 'CONNECTED_BY_ADDRESS'])
    expect(await has(bob)).toEqual(['SUCCEEDS', [], 'NOT_LINKED'])
    await listProviders(home, [])
  })

  test('a sign-in names the provider, and one that failed there is among the refusals of the application, with why', async () => {
    const name = unique('Acme')
    const idpId = await newProvider({ name, autoRegister: false })
    const making = await newProvider()
    await listProviders(home, [idpId, making])
    const userId = await newPersonOf(making)
    const { signIns } = await act('SearchSignIns', { userId })
    const { idp } = await act('GetOrganizationIDP', { idpId: making })
    expect(signIns).toEqual([
      {
        userId,
        signIn: expect.objectContaining({
          factors: ['AUTHENTICATION_METHOD_TYPE_IDP'],
          idpId: making,
          idpName: idp.name,
        }),
      },
    ])
    await act('LockUser', { userId })
    await comeBy(making)
    const causes = async () => {
      const { failures = [] } = await act('SearchSignInFailures', { userId })
      return failures.map((one: any) => [one.failures.cause, one.failures.count])
    }
    await vi.waitFor(async () => expect(await causes()).toEqual([['SIGN_IN_FAILURE_CAUSE_USER_NOT_ACTIVE', 1]]), 10_000)
    upstream.person = { sub: unique('sub'), refuses: true }
    await comeBy(idpId)
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    await comeBy(idpId)
    await act('UpdateOrganizationIDPOIDCConfig', { idpId, clientSecret: 'wrong' })
    await comeBy(idpId)
    const { projectId, appId } = application
    const reasonsOf = async () => {
      const { refusals = [] } = await act('SearchApplicationArrivals', { projectId, appId })
      return refusals
        .filter(({ sent }: { sent: string }) => sent === idpId)
        .map(({ cause, description }: { cause: string; description: string }) => {
          expect([cause, description]).toEqual(['APPLICATION_REFUSAL_CAUSE_PROVIDER', expect.stringContaining(name)])
          return /: ([\w-]+)\.$/.exec(description)?.[1]
        })
    }
    await vi.waitFor(
      async () => expect((await reasonsOf()).toSorted()).toEqual(['denied', 'not-believed', 'unknown']),
      10_000,
    )
  })

  test('UpdateIDP: a changed name, styling and autoRegister of the instance change the page, and what a first sign-in does', async () => {
    const settings = { name: unique('Former'), clientId: 'roster', clientSecret: secret, issuer: upstream.url }
    const { idpId } = ok(await call('AddOIDCIDP', settings, admin()))
    await listProviders(home, [idpId], { allowRegister: true })
    const page = async () => (await openBrowser().visit(authorizePath(application))).body
    expect(readText(await page())).toContain(`Continue with <bdi>${settings.name}</bdi>`)
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    expect(errorOf((await comeBy(idpId)).shown)).toContain('No account here is connected')
    const name = unique('Renamed')
    ok(await call('UpdateIDP', { idpId, name, stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true }, admin()))
    await vi.waitFor(async () => expect(await page()).toMatch(new RegExp(`<svg.*${name}`, 's')), 10_000)
    const { sub } = await identityOf(application, (await comeBy(idpId)).shown)
    expect(ok(await call('GetUser', { userId: sub }, admin(home))).user.human.profile.firstName).toBe('Ada')
    // All fields are updated: what is not sent is empty afterwards.
    ok(await call('UpdateIDP', { idpId, name }, admin()))
    await vi.waitFor(async () => expect(await page()).not.toContain('<svg'), 10_000)
    upstream.person = { sub: unique('sub'), claims: claimsOf('Grace') }
    expect(errorOf((await comeBy(idpId)).shown)).toContain('No account here is connected')
    await listProviders(home, [])
  })
})
