import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'
import { type Browser, claimsOf, comeByProvider, enter, identityOf, listProviders } from './provider-stage.ts'

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

/** A provider that makes users, the only one of the policy. */
async function newProvider(policy: object = {}) {
  const settings = { name: unique('Acme'), autoRegister: true, clientId: 'roster', clientSecret: secret }
  const { idpId } = ok(await call('AddOrganizationOIDCIDP', { ...settings, issuer: upstream.url }, admin(home)))
  await listProviders(home, [idpId], policy)
  return idpId as string
}

const comeBy = (idpId: string, browser?: Browser) => comeByProvider({ application, upstream }, idpId, browser)

describe.skipIf(!house)(`what a provider says of people${why}:`, () => {
  const profileOf = async (userId: string) => ok(await call('GetUser', { userId }, admin(home))).user.human
  const set = async (idpId: string, claims: object) =>
    ok(await call('SetOrganizationIDPClaims', { idpId, ...claims }, admin(home)))
  const eventsOf = async (userId: string) => {
    const { changes } = ok(await call('ListUserChanges', { userId }, admin(home)))
    return (changes as { type: string; data: object }[]).toReversed()
  }

  test('is read by the claims that its record names', async () => {
    const idpId = await newProvider()
    const mapping = { givenName: 'https://acme.example/first', displayName: '/realm/title', email: '/realm/mail' }
    await set(idpId, { mapping })
    const { idp } = ok(await call('GetOrganizationIDP', { idpId }, admin(home)))
    expect(idp.claims).toMatchObject({ mapping })
    const email = uniqueEmail()
    const realm = { title: 'The Countess', mail: email }
    const claims = claimsOf('Ada', {
      realm,
      'https://acme.example/first': 'Augusta',
      nickname: 'Gussie',
      locale: 'de_CH',
    })
    upstream.person = { sub: unique('sub'), claims }
    const { sub } = await identityOf(application, (await comeBy(idpId)).shown)
    expect(await profileOf(sub)).toMatchObject({
      profile: {
        firstName: 'Augusta',
        lastName: 'Lovelace',
        displayName: 'The Countess',
        nickName: 'Gussie',
        preferredLanguage: 'de-CH',
      },
      email: { email },
    })
    const wrong = await call('SetOrganizationIDPClaims', { idpId, mapping: { email: '/realm//mail' } }, admin(home))
    expect(factsOf(wrong).violations).toMatchObject([{ field: 'mapping.email' }])
  })

  test('follows at each sign-in where its record says so: nothing that is the same, and no address of another account', async () => {
    const idpId = await newProvider()
    const person = { sub: unique('sub'), claims: claimsOf('Ada') }
    upstream.person = person
    const { sub: userId } = await identityOf(application, (await comeBy(idpId)).shown)
    const come = async (claims: object) => {
      upstream.person = { ...person, claims: { ...person.claims, ...claims } }
      return identityOf(application, (await comeBy(idpId)).shown)
    }
    await come({ given_name: 'Augusta' })
    expect((await profileOf(userId)).profile.firstName).toBe('Ada')
    await set(idpId, { isAutoUpdate: true })
    const email = uniqueEmail()
    const said = { given_name: 'Augusta', locale: 'fr', nickname: 'Gussie', email, email_verified: true }
    expect(await come(said)).toMatchObject({ sub: userId })
    // As if the person had typed it: a code proves it, and no provider.
    expect(await profileOf(userId)).toMatchObject({
      profile: { firstName: 'Augusta', lastName: 'Lovelace', nickName: 'Gussie', preferredLanguage: 'fr' },
      email: { email },
    })
    expect((await profileOf(userId)).email.isVerified).toBeFalsy()
    const { details } = ok(await call('GetUser', { userId }, admin(home))).user
    await come(said)
    expect(ok(await call('GetUser', { userId }, admin(home))).user.details.sequence).toBe(details.sequence)
    const other = await newHuman(home, { password: unique('Password') })
    for (let time = 0; time < 2; time++)
      expect(await come({ ...said, email: other.email })).toMatchObject({ sub: userId })
    expect((await profileOf(userId)).email.email).toBe(email)
    const events = (await eventsOf(userId)).filter(({ type }) => type.includes('idp.followed'))
    expect(events.map(({ data }) => data)).toEqual([{ idpId }, { idpId, refusal: 'EMAIL_TAKEN' }])
  })

  test('moves no address in a sign-in that lacks a factor, which may be a code to that address', async () => {
    const idpId = await newProvider()
    const person = { sub: unique('sub'), claims: claimsOf('Ada') }
    upstream.person = person
    const { sub: userId } = await identityOf(application, (await comeBy(idpId)).shown)
    ok(await call('SetEmail', { userId, email: person.claims.email, isVerified: true }, admin(home)))
    ok(await call('AddOTPEmail', { userId }, admin(home)))
    await set(idpId, { isAutoUpdate: true })
    upstream.person = { ...person, claims: { ...person.claims, given_name: 'Augusta', email: uniqueEmail() } }
    const { browser, shown } = await comeBy(idpId)
    const isSame = async () =>
      expect(await profileOf(userId)).toMatchObject({
        profile: { firstName: 'Augusta' },
        email: { email: person.claims.email, isVerified: true },
      })
    await isSame()
    // Nor in a later one, which lacks nothing.
    const asked = await browser.submit(shown, { action: 'send' })
    const { code } = await mailTo(person.claims.email)
    await identityOf(application, await browser.submit(asked, { action: 'check', code }))
    const again = await comeByProvider({ application, upstream }, idpId, browser, { prompt: 'login' })
    await identityOf(application, again.shown)
    await isSame()
    const [event] = (await eventsOf(userId)).filter(({ type }) => type.includes('idp.followed'))
    expect(event?.data).toEqual({ idpId, refusal: 'FACTOR_REQUIRED' })
  })

  test('counts as two factors where its record says by which words, and within a second no more', async () => {
    const idpId = await newProvider({ forceMfa: true })
    try {
      await set(idpId, { secondFactor: { amr: ['mfa'], acr: ['phr'] } })
      upstream.person = { sub: unique('sub'), claims: claimsOf('Ada', { amr: ['pwd'] }) }
      const one = await comeBy(idpId)
      expect(one.shown.location).not.toContain('code=')
      upstream.person.claims!['amr'] = ['pwd', 'mfa']
      const { browser, shown } = await comeBy(idpId)
      expect(await identityOf(application, shown)).toMatchObject({ amr: ['mfa'], acr: 'urn:roster:acr:2' })
      const silent = async () => (await browser.visit(authorizePath(application, { prompt: 'none' }))).location
      expect(await silent()).toContain('code=')
      await set(idpId, { secondFactor: { amr: ['hwk'] } })
      await vi.waitFor(async () => expect(await silent()).not.toContain('code='), { timeout: 10_000 })
    } finally {
      await listProviders(home, [idpId])
    }
  })
})

describe.skipIf(!house)(`roles by the claims of a provider${why}:`, () => {
  let project: string
  let web: ExampleApplication

  beforeAll(async () => {
    project = await newProject(home, ['reader', 'writer', 'owner'])
    web = await newWebApplication(home, project, { idTokenRoleAssertion: true })
  })

  const rowOf = (value: string, ...roleKeys: string[]) => ({
    claim: '/realm/groups',
    value,
    projectId: project,
    roleKeys,
  })
  const setRows = async (idpId: string, ...rows: JsonObject[]) =>
    ok(await call('SetOrganizationIDPRoles', { idpId, rows }, admin(home)))
  const grantsOf = async (userId: string) => {
    const { userGrants = [] } = ok(await call('SearchUserGrants', { userId, projectId: project }, admin(home)))
    return (userGrants as { idpId?: string; roleKeys: string[]; id: string }[]).toSorted((a, b) =>
      (a.idpId ?? '').localeCompare(b.idpId ?? ''),
    )
  }
  /** Signs in with these groups: the claims of the ID token. */
  const comeWith = async (idpId: string, sub: string, groups: string[]) => {
    upstream.person = { sub, claims: claimsOf('Ada', { realm: { groups } }) }
    return identityOf(web, (await comeByProvider({ application: web, upstream }, idpId)).shown)
  }

  test('are in the first token, go with the claim, and leave what a hand gave', async () => {
    const [idpId, sub] = [await newProvider(), unique('sub')]
    await setRows(idpId, rowOf('admins', 'reader', 'writer'), rowOf('leads', 'writer', 'owner'))
    const first = await comeWith(idpId, sub, ['admins', 'others'])
    expect(first['roles']).toEqual(['reader', 'writer'])
    const userId = first['sub'] as string
    const byHand = { userId, projectId: project, roleKeys: ['reader'] }
    ok(await call('AddUserGrant', byHand, admin(home)))
    expect(await grantsOf(userId)).toMatchObject([{ roleKeys: ['reader'] }, { idpId, roleKeys: ['reader', 'writer'] }])
    const second = await comeWith(idpId, sub, ['leads'])
    expect(second['roles'].toSorted()).toEqual(['owner', 'reader', 'writer'])
    const [, given] = await grantsOf(userId)
    expect(given).toMatchObject({ idpId, roleKeys: ['writer', 'owner'] })
    const change = { userId, grantId: given!.id, roleKeys: ['reader'] }
    expect(factsOf(await call('UpdateUserGrant', change, admin(home))).reason).toBe('USER_GRANT_OF_PROVIDER')
    expect((await comeWith(idpId, sub, []))['roles']).toEqual(['reader'])
    expect(await grantsOf(userId)).toMatchObject([{ roleKeys: ['reader'] }])
    // By the hand of the person, and told of the provider.
    const { changes } = ok(await call('ListUserChanges', { userId }, admin(home)))
    expect(JSON.stringify(changes)).not.toContain('groups')
  })

  test('go with their row, the link and the provider, without another sign-in', async () => {
    const [idpId, sub] = [await newProvider(), unique('sub')]
    const [admins, leads] = [rowOf('admins', 'reader'), rowOf('leads', 'reader', 'writer')]
    await setRows(idpId, admins, leads)
    const { sub: userId } = await comeWith(idpId, sub, ['admins', 'leads'])
    const keysOf = async () => (await grantsOf(userId)).map(({ roleKeys }) => roleKeys)
    const become = (keys: string[][]) =>
      vi.waitFor(async () => expect(await keysOf()).toEqual(keys), { timeout: 10_000 })
    expect(await keysOf()).toEqual([['reader', 'writer']])
    await setRows(idpId, admins)
    await become([['reader']])
    const [own] = await grantsOf(userId)
    expect(own).toMatchObject({ idpId })
    ok(await call('SetPassword', { userId, newPassword: { password: unique('Password') } }, admin(home)))
    ok(await call('RemoveIDPLink', { userId, idpId, linkedUserId: sub }, admin(home)))
    await become([])
    const { sub: otherId } = await comeWith(idpId, unique('sub'), ['admins'])
    expect(await grantsOf(otherId)).toMatchObject([{ idpId, roleKeys: ['reader'] }])
    ok(await call('RemoveOrganizationIDP', { idpId }, admin(home)))
    await vi.waitFor(async () => expect(await grantsOf(otherId)).toEqual([]), { timeout: 10_000 })
  })

  test('are those that whoever writes the table can give: of its own organization, and no role that is not there', async () => {
    const idpId = await newProvider()
    const reasonOf = async (row: JsonObject, by = admin(home)) =>
      factsOf(await call('SetOrganizationIDPRoles', { idpId, rows: [row] }, by)).reason
    expect(await reasonOf(rowOf('admins', 'nobody'))).toBe('ROLE_NOT_FOUND')
    const abroad = await newProject(await newOrganization(), ['reader'])
    expect(await reasonOf({ ...rowOf('admins', 'reader'), projectId: abroad })).toBe('PROJECT_NOT_FOUND')
    const twice = [rowOf('admins', 'reader'), rowOf('admins', 'writer')]
    const refused = factsOf(await call('SetOrganizationIDPRoles', { idpId, rows: twice }, admin(home)))
    expect(refused.fields).toEqual(['rows[1]'])
    const { idp } = ok(await call('GetOrganizationIDP', { idpId }, admin(home)))
    expect(idp.roleRows ?? []).toEqual([])
    expect(await reasonOf(rowOf('admins', 'reader'), admin(await newOrganization()))).toBe('IDP_NOT_FOUND')
  })
})

describe.skipIf(!house)(`a provider that is tried${why}:`, () => {
  /** Tries a provider as its organization's owner, in a browser that is signed in as that one. */
  async function newOwner() {
    const owner = await newMember(home, ['ORG_OWNER'])
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(application))
    await enter(browser, page, owner)
    return { browser, by: { token: owner.token, organization: home } }
  }
  const callbackOf = async (url: string) => {
    const back = await upstream.visit(url)
    return back.pathname + back.search
  }

  test('shows its claims to whoever tried it, once, and signs nobody in', async () => {
    const idpId = await newProvider()
    const project = await newProject(home, ['reader'])
    const row = { claim: '/realm/groups', value: 'admins', projectId: project, roleKeys: ['reader'] }
    ok(await call('SetOrganizationIDPRoles', { idpId, rows: [row] }, admin(home)))
    const claims = { mapping: { email: '/realm/mail' }, secondFactor: { amr: ['mfa'], acr: [] } }
    ok(await call('SetOrganizationIDPClaims', { idpId, ...claims }, admin(home)))
    const { browser, by } = await newOwner()
    const other = await newOwner()
    const said = { realm: { groups: ['admins'], mail: uniqueEmail() }, amr: ['mfa'], nickname: '<b>Ada\u202e</b>' }
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada', said) }
    const trial = ok(await call('TryOrganizationIdentityProvider', { idpId }, by))
    const path = await callbackOf(trial.url)
    const foreign = await other.browser.visit(path)
    expect(foreign.body).not.toContain(said.realm.mail)
    expect((await openBrowser().visit(path)).body).not.toContain(said.realm.mail)
    const shown = await browser.visit(path)
    expect(shown.body).toContain('no session began')
    for (const text of [
      upstream.person.sub,
      said.realm.mail,
      'amr:mfa',
      `${project}: reader`,
      '/realm/groups = admins',
    ])
      expect(shown.body).toContain(text)
    expect(shown.body).not.toContain('<b>')
    expect(shown.body).not.toContain('\u202e')
    // The address bar and the way back tell nobody else.
    expect((await browser.visit(path)).body).not.toContain(said.realm.mail)
    const found = ok(
      await call('SearchUsers', { queries: [{ emailQuery: { emailAddress: said.realm.mail } }] }, admin(home)),
    )
    expect(found.users ?? []).toEqual([])
  })

  test('says why it proves nobody, also where it is switched off, and by nothing but its own state', async () => {
    const idpId = await newProvider()
    ok(await call('DeactivateOrganizationIDP', { idpId }, admin(home)))
    const { browser, by } = await newOwner()
    upstream.person = { sub: unique('sub'), refuses: true }
    const { url } = ok(await call('TryOrganizationIdentityProvider', { idpId }, by))
    expect((await browser.visit(await callbackOf(url))).body).toContain('It was only a trial: nothing has changed.')
    const foreign = factsOf(await call('TryOrganizationIdentityProvider', { idpId }, admin(await newOrganization())))
    expect(foreign.reason).toBe('IDP_NOT_FOUND')
    const path = `/ui/login/idps/${idpId}/callback?state=try..${Buffer.from('forged').toString('base64url')}&code=x`
    expect((await browser.visit(path)).body).not.toContain('only a trial')
  })
})
