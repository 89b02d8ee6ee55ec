import { createServerTransport } from '@zitadel/client/node'
import {
  createSessionServiceClient,
  createSettingsServiceClient,
  createUserServiceClient,
  makeReqCtx,
} from '@zitadel/client/v2'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { beginAtLogin, newLoginClient, onLoginPages } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'
import { type Browser, claimsOf, identityOf, listProviders } from './provider-stage.ts'

// Sign-ins at identity providers that a login application begins for pages of its own.

const { house, url } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
const urls = { successUrl: 'https://app.example.com/idp?step=done', failureUrl: 'https://app.example.com/failed' }
let home: string
let owner: { token: string }
let application: ExampleApplication
let client: { token: string }
let upstream: PeopleUpstream
let idpId: string
/** Whom the provider signs in. */
let ada: ExampleHuman & { sub: string }

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  application = await newWebApplication(home, await newProject(home), onLoginPages)
  ;[owner, client] = await Promise.all([newMember(home, ['ORG_OWNER']), newLoginClient(await newOrganization())])
  idpId = await newProvider()
  await listProviders(home, [idpId])
})
afterAll(() => upstream?.stop())
beforeEach(async () => {
  if (house) ada = await newLinked()
})

async function newProvider(more: object = {}, organization = home) {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: secret, issuer: upstream.url, ...more }
  return ok(await call('AddOrganizationOIDCIDP', settings, admin(organization))).idpId as string
}

/** A user of an organization whom a provider signs in, and who is there now. */
async function newLinked(at = idpId, organization = home) {
  const human = await newHuman(organization, { password: unique('Password') })
  const sub = unique('sub')
  ok(await call('AddIDPLink', { userId: human.userId, idpLink: { idpId: at, userId: sub } }, admin(organization)))
  upstream.person = { sub, claims: claimsOf('Ada') }
  return { ...human, sub }
}

const start = (more: object = {}, who = client) => call('StartIdentityProviderIntent', { idpId, urls, ...more }, who)
/** Users has heard of a provider. */
const isKnown = (of: string) =>
  expect.poll(async () => reasonOf(await start({ idpId: of })), { timeout: 10_000 }).toBe('in')
const reasonOf = (answer: Awaited<ReturnType<typeof call>>) => (answer.error ? factsOf(answer).reason! : 'in')

/** Where the browser is in the end. */
async function comeBack(authUrl: string, browser: Browser = openBrowser()) {
  const { location } = await browser.visit(new URL(authUrl).pathname)
  const back = await upstream.visit(location)
  const { location: end, body } = await browser.visit(back.pathname + back.search)
  return { end: end === '' ? undefined : new URL(end), body, path: back.pathname + back.search, browser }
}

/** A sign-in at the provider, as its caller gets it. */
async function prove(more: object = {}, who = client) {
  const { end } = await comeBack(ok(await start(more, who)).authUrl)
  const { id, token, user, step } = Object.fromEntries(end!.searchParams)
  recordSecret(token!)
  expect(step).toBe('done')
  return { proof: { idpIntentId: id!, idpIntentToken: token! }, user }
}
type Proof = Awaited<ReturnType<typeof prove>>['proof']

const retrieve = (proof: Proof, who = client) => call('RetrieveIdentityProviderIntent', proof, who)
const open = async (idpIntent: Proof, more: object = {}, who = client) => {
  const answer = await call('CreateSession', { idpIntent, ...more }, who)
  if (!answer.error) recordSecret(ok(answer).sessionToken)
  return answer
}

describe.skipIf(!house)(`a login application signs people in at an identity provider${why}:`, () => {
  test('whom it proves opens a session, which answers an application', async () => {
    const authRequestId = await beginAtLogin(application)
    const { proof, user } = await prove()
    expect(user).toBe(ada.userId)
    const { idpInformation, userId } = ok(await retrieve(proof))
    expect(userId).toBe(ada.userId)
    expect(idpInformation).toMatchObject({ idpId, userId: ada.sub, userName: 'ada@there', issuer: upstream.url })
    expect(idpInformation.rawInformation).toMatchObject({ sub: ada.sub, given_name: 'Ada' })
    const { sessionId, sessionToken, missingFactors } = ok(await open(proof, { userId: ada.userId }))
    expect(missingFactors ?? []).toEqual([])
    expect(ok(await call('GetSession', { sessionId }, client)).session.factors.intent.verifiedAt).toBeDefined()
    const session = { sessionId, sessionToken }
    const { callbackUrl } = ok(await call('CreateCallback', { authRequestId, session }, client))
    const answered = { status: 302, location: callbackUrl as string, body: '' }
    expect(await identityOf(application, answered)).toMatchObject({ sub: ada.userId, sid: sessionId })
  })

  test('where all providers of ZITADEL come back, too', async () => {
    const moved = await newProvider()
    const callback = { idpId: moved, callback: 'IDP_CALLBACK_ZITADEL' }
    ok(await call('UpdateOrganizationIDPOIDCConfig', callback, admin(home)))
    await listProviders(home, [idpId, moved])
    const { userId, sub } = await newLinked(moved)
    const { end, path } = await comeBack(ok(await start({ idpId: moved })).authUrl)
    expect(path).toMatch(/^\/idps\/callback\?.*iss=/)
    const { id, token, user } = Object.fromEntries(end!.searchParams)
    expect(user).toBe(userId)
    recordSecret(token)
    const proof = { idpIntentId: id!, idpIntentToken: token! }
    expect(ok(await retrieve(proof)).idpInformation).toMatchObject({ idpId: moved, userId: sub })
    expect(reasonOf(await open(proof, { userId }))).toBe('in')
    await listProviders(home, [idpId])
  })

  test('ZITADEL’s client makes the same calls, by its names', async () => {
    const transport = createServerTransport(client.token, { baseUrl: url })
    const [users, sessions] = [createUserServiceClient(transport), createSessionServiceClient(transport)]
    const settings = createSettingsServiceClient(transport)
    const ctx = makeReqCtx(home)
    const { identityProviders, details } = await settings.getActiveIdentityProviders({ ctx, linkingAllowed: true })
    expect(identityProviders).toMatchObject([
      { id: idpId, name: expect.stringMatching(/^Acme/), type: 1, options: { isLinkingAllowed: true } },
    ])
    expect(details!.totalResult).toBe(1n)
    await expect(settings.getActiveIdentityProviders({ ctx, autoLinking: true })).rejects.toThrow('autoLinking')
    const started = await users.startIdentityProviderIntent({ idpId, content: { case: 'urls', value: urls } })
    expect(started.nextStep.case).toBe('authUrl')
    const { end } = await comeBack(started.nextStep.value as string)
    const idpIntent = { idpIntentId: end!.searchParams.get('id')!, idpIntentToken: end!.searchParams.get('token')! }
    recordSecret(idpIntent.idpIntentToken)
    const { idpInformation, userId } = await users.retrieveIdentityProviderIntent(idpIntent)
    expect(userId).toBe(ada.userId)
    expect(idpInformation).toMatchObject({ idpId, userId: ada.sub, rawInformation: { sub: ada.sub } })
    const user = { search: { case: 'userId' as const, value: userId } }
    const { sessionId, sessionToken } = await sessions.createSession({ checks: { user, idpIntent } })
    recordSecret(sessionToken)
    const { session } = await sessions.getSession({ sessionId })
    expect(session?.factors?.intent?.verifiedAt).toBeDefined()
    const again = sessions.setSession({ sessionId, sessionToken, checks: { idpIntent } })
    await expect(again).rejects.toThrow('no such sign-in')
  })

  test('it comes to a session that names the person', async () => {
    const { sessionId, sessionToken } = ok(await call('CreateSession', { userId: ada.userId }, client))
    recordSecret(sessionToken)
    const { proof } = await prove()
    const set = await call('SetSession', { sessionId, sessionToken, idpIntent: proof }, client)
    recordSecret(ok(set).sessionToken)
    expect(ok(await call('GetSession', { sessionId }, client)).session.factors.intent).toBeDefined()
  })

  test('who comes for the first time gets an account by what was retrieved, and signs in with the same proof', async () => {
    upstream.person = { sub: unique('new'), claims: claimsOf('Grace') }
    const { proof, user } = await prove()
    expect(user).toBeUndefined()
    expect(reasonOf(await open(proof))).toBe('CREDENTIALS_INVALID')
    const { idpInformation: said, userId } = ok(await retrieve(proof))
    expect(userId ?? '').toBe('')
    const { given_name: firstName, family_name: lastName, email } = said.rawInformation
    const links = [{ idpId: said.idpId, userId: said.userId, userName: said.userName }]
    const human = { userName: unique('grace'), profile: { firstName, lastName }, email: { email, isVerified: true } }
    const added = ok(await call('AddHumanUser', { ...human, idpLinks: { links } }, owner))
    ok(await open(proof, { userId: added.userId }))
  })

  test('what the request asks for goes on to the provider, whose word on the time counts', async () => {
    upstream.asked.length = 0
    const authRequestId = await beginAtLogin(application, { prompt: 'login' })
    const { proof } = await prove({ promptsLogin: true, loginHint: 'ada@there' })
    expect(upstream.asked.at(-1)).toMatchObject({ prompt: 'login', login_hint: 'ada@there' })
    const { sessionId, sessionToken } = ok(await open(proof))
    ok(await call('CreateCallback', { authRequestId, session: { sessionId, sessionToken } }, client))
  })

  test('the person is connected by it, with a session of theirs that vouches', async () => {
    const grace = await newHuman(home, { password: unique('Password') })
    upstream.person = { sub: unique('sub'), claims: claimsOf('Grace') }
    const { proof } = await prove()
    const link = () => call('AddIDPLink', { userId: grace.userId, idpIntent: proof }, client)
    expect(reasonOf(await link())).toBe('FACTOR_NOT_FRESH')
    const begun = ok(await call('CreateSession', { userId: grace.userId, password: grace.password }, client))
    recordSecret(begun.sessionToken)
    const idpLink = { idpId, userId: upstream.person.sub }
    expect(reasonOf(await call('AddIDPLink', { userId: grace.userId, idpLink }, client))).toBe('PERMISSION_DENIED')
    ok(await link())
    const { links } = ok(await call('ListIDPLinks', { userId: grace.userId }, owner))
    expect(links).toMatchObject([{ idpId, userId: upstream.person.sub, issuer: upstream.url }])
    ok(await open(proof, { userId: grace.userId }))
  })

  test('whoever has the mailbox alone is connected by nothing', async () => {
    const { userId, email } = await newHuman(home, { password: unique('Password') })
    ok(await call('PasswordReset', { userId, sendLink: {} }, admin(home)))
    const { code: verificationCode } = await mailTo(email)
    const password = unique('Password')
    ok(await call('ResetPassword', { userId, verificationCode, newPassword: password }))
    recordSecret(ok(await call('CreateSession', { userId, password }, client)).sessionToken)
    upstream.person = { sub: unique('sub'), claims: claimsOf('Grace') }
    const { proof } = await prove()
    expect(reasonOf(await call('AddIDPLink', { userId, idpIntent: proof }, client))).toBe('FACTOR_NOT_AVAILABLE')
  })
})

describe.skipIf(!house)(`a sign-in that a login application began${why}:`, () => {
  test('is worth nothing to another caller, with another token, twice, or later', async () => {
    const { proof } = await prove()
    const other = await newLoginClient(home)
    const begun = ok(await call('CreateSession', { userId: ada.userId }, other))
    recordSecret(begun.sessionToken)
    const { sessionId, sessionToken } = begun
    const attempts = (one: Proof, who: { token: string }) => [
      retrieve(one, who),
      open(one, {}, who),
      call('SetSession', { sessionId, sessionToken, idpIntent: one }, other),
      call('AddIDPLink', { userId: ada.userId, idpIntent: one }, who),
    ]
    const reasonsOf = async (answers: ReturnType<typeof attempts>) => (await Promise.all(answers)).map(reasonOf)
    const none = Array.from({ length: 4 }, () => 'IDP_INTENT_NOT_FOUND')
    expect(await reasonsOf(attempts(proof, other))).toEqual(none)
    const second = await prove()
    for (const mixed of [
      { ...proof, idpIntentToken: second.proof.idpIntentToken },
      { ...proof, idpIntentId: 'unknown' },
      { ...proof, idpIntentToken: 'unknown' },
    ])
      expect(await reasonsOf(attempts(mixed, client))).toEqual(none)
    const both = await Promise.all([open(proof), open(proof)])
    expect(both.map(reasonOf).toSorted()).toEqual(['IDP_INTENT_NOT_FOUND', 'in'])
    expect(await reasonsOf(attempts(proof, client))).toEqual(none)
    await inDatabase(
      (sql) =>
        sql`update roster_users.provider_intents set expires_at = roster_users.roster_now() - interval '1 second' where id = ${second.proof.idpIntentId}`,
    )
    expect(await reasonsOf(attempts(second.proof, client))).toEqual(none)
  })

  test('opens no session of anybody but the linked person, whose policy lists the provider', async () => {
    const grace = await newHuman(home)
    const { proof } = await prove()
    expect(reasonOf(await open(proof, { userId: grace.userId }))).toBe('CREDENTIALS_INVALID')
    expect(reasonOf(await open(proof, { loginName: grace.userName }))).toBe('CREDENTIALS_INVALID')
    const { sessionId, sessionToken } = ok(await call('CreateSession', { userId: grace.userId }, client))
    recordSecret(sessionToken)
    expect(reasonOf(await call('SetSession', { sessionId, sessionToken, idpIntent: proof }, client))).toBe(
      'CREDENTIALS_INVALID',
    )
    const unlisted = await newProvider()
    await isKnown(unlisted)
    await newLinked(unlisted)
    const there = await prove({ idpId: unlisted })
    expect(there.user).toBeDefined()
    expect(reasonOf(await open(there.proof))).toBe('CREDENTIALS_INVALID')
    // A person of an organization has no other organization's provider, whatever the policy lists.
    const elsewhere = await newOrganization()
    const foreign = await newProvider({}, elsewhere)
    await isKnown(foreign)
    const settings = { identityProviders: { idpIds: [idpId, foreign] } }
    ok(await call('UpdateLoginPolicy', { settings }, admin(home)))
    upstream.person = { sub: unique('sub') }
    const intent = (await prove({ idpId: foreign })).proof
    expect(reasonOf(await open(intent, { userId: ada.userId }))).toBe('CREDENTIALS_INVALID')
    const own = { userId: ada.userId, password: ada.password }
    recordSecret(ok(await call('CreateSession', own, client)).sessionToken)
    const connect = call('AddIDPLink', { userId: ada.userId, idpIntent: intent }, client)
    expect(reasonOf(await connect)).toBe('IDP_NOT_FOUND')
    await listProviders(home, [idpId])
    // Nor does an organization's provider let in who has a role on the instance.
    upstream.person = { sub: ada.sub }
    ok(await open((await prove()).proof))
    ok(await call('AddInstanceMember', { userId: ada.userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    const comeAgain = async () => reasonOf(await open((await prove()).proof))
    await expect.poll(comeAgain, { timeout: 10_000 }).toBe('CREDENTIALS_INVALID')
  })

  test('opens no session by a link that somebody else named, once the person has a role that theirs was not above', async () => {
    const named = async (who: { token: string }) => {
      const { userId } = await newHuman(home)
      const sub = unique('sub')
      ok(await call('AddIDPLink', { userId, idpLink: { idpId, userId: sub } }, who))
      upstream.person = { sub, claims: claimsOf('Cy') }
      ok(await open((await prove()).proof))
      ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home)))
      return async () => ok(await open((await prove()).proof)).missingFactors ?? []
    }
    await expect.poll(await named(owner), { timeout: 10_000 }).not.toEqual([])
    expect(await (await named(admin(home)))()).toEqual([])
  })

  test('a sign-in by such a link is no new proof, and renames nobody', async () => {
    ok(await call('SetOrganizationIDPClaims', { idpId, isAutoUpdate: true }, admin(home)))
    const { userId, password } = await newHuman(home, { password: unique('Password') })
    const sub = unique('sub')
    ok(await call('AddIDPLink', { userId, idpLink: { idpId, userId: sub } }, owner))
    ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home)))
    const comeAgain = async () => {
      upstream.person = { sub, claims: claimsOf('Eve') }
      return (await prove({ promptsLogin: true })).proof
    }
    await expect
      .poll(async () => ok(await open(await comeAgain())).missingFactors ?? [], { timeout: 10_000 })
      .not.toEqual([])
    const session = ok(await call('CreateSession', { userId, password }, client))
    recordSecret(session.sessionToken)
    const authRequestId = await beginAtLogin(application, { prompt: 'login' })
    const { profile } = ok(await call('GetUser', { userId }, admin(home))).user.human
    const { sessionId, sessionToken } = session
    const idpIntent = await comeAgain()
    const again = ok(await call('SetSession', { sessionId, sessionToken, idpIntent }, client))
    recordSecret(again.sessionToken)
    const late = { sessionId, sessionToken: again.sessionToken }
    expect(reasonOf(await call('CreateCallback', { authRequestId, session: late }, client))).toBe('FACTOR_REQUIRED')
    expect(ok(await call('GetUser', { userId }, admin(home))).user.human.profile).toEqual(profile)
    const renewed = ok(await call('SetSession', { ...late, password }, client))
    recordSecret(renewed.sessionToken)
    const fresh = { sessionId, sessionToken: renewed.sessionToken }
    expect(reasonOf(await call('CreateCallback', { authRequestId, session: fresh }, client))).toBe('in')
    ok(await call('SetOrganizationIDPClaims', { idpId }, admin(home)))
  })

  test('ends in the browser that opened it first, once', async () => {
    const { authUrl } = ok(await start())
    const [first, second] = [openBrowser(), openBrowser()]
    expect(authUrl.startsWith(`${url}/ui/login/intents/`)).toBe(true)
    const { location } = await first.visit(new URL(authUrl).pathname)
    expect((await second.visit(new URL(authUrl).pathname)).body).toContain('This link has expired')
    const { pathname, search } = await upstream.visit(location)
    expect((await second.visit(pathname + search)).body).toContain('This link has expired')
    const elsewhere = pathname.replace(idpId, unique('other'))
    expect((await first.visit(elsewhere + search)).body).toContain('This link has expired')
    const { location: end } = await first.visit(pathname + search)
    recordSecret(new URL(end).searchParams.get('token')!)
    expect((await first.visit(pathname + search)).body).toContain('This link has expired')
    expect((await first.visit(new URL(authUrl).pathname)).body).toContain('This link has expired')
  })

  test('that proves nobody leads to the other page, without a token', async () => {
    upstream.person = { sub: 'nobody', refuses: true }
    const { end } = await comeBack(ok(await start()).authUrl)
    expect(end!.origin + end!.pathname).toBe(urls.failureUrl)
    const { id, error, token } = Object.fromEntries(end!.searchParams)
    expect({ error, token }).toEqual({ error: 'access_denied', token: undefined })
    expect(reasonOf(await retrieve({ idpIntentId: id!, idpIntentToken: 'none' }))).toBe('IDP_INTENT_NOT_FOUND')
  })

  test('is begun by a login application alone, at a provider that serves, for addresses that links may lead to', async () => {
    expect(reasonOf(await start({}, owner))).toBe('PERMISSION_DENIED')
    const off = await newProvider()
    ok(await call('DeactivateOrganizationIDP', { idpId: off }, admin(home)))
    await expect.poll(async () => reasonOf(await start({ idpId: off })), { timeout: 5000 }).toBe('IDP_NOT_FOUND')
    expect(reasonOf(await start({ idpId: 'unknown' }))).toBe('IDP_NOT_FOUND')
    for (const successUrl of [
      'https://other.example.com/',
      'javascript:alert(1)',
      '/relative',
      'https://user@app.example.com/',
      'https://app.example.com/#part',
      'https://app.example.com/{{.Code}}',
      'https://app.example.com\\@other.example/',
    ])
      expect(factsOf(await start({ urls: { ...urls, successUrl } })).fields, successUrl).toEqual(['urls.successUrl'])
    const failureUrl = 'ftp://app.example.com/'
    expect(factsOf(await start({ urls: { ...urls, failureUrl } })).fields).toEqual(['urls.failureUrl'])
  })

  test('is one of five thousand of its caller at most', async () => {
    const busy = await newLoginClient(home)
    const { idpIntentId } = ok(await start({}, busy))
    await inDatabase(
      (sql) => sql`
        insert into roster_users.provider_intents (id, caller_id, progress, began_at, expires_at)
        select id || n, caller_id, progress, began_at, expires_at
        from roster_users.provider_intents, generate_series(1, 4999) n where id = ${idpIntentId}
      `,
    )
    expect(reasonOf(await start({}, busy))).toBe('IDP_INTENTS_FULL')
    expect(reasonOf(await start())).toBe('in')
    await inDatabase(
      (sql) =>
        sql`update roster_users.provider_intents set expires_at = roster_users.roster_now() where id = ${idpIntentId}`,
    )
    expect(reasonOf(await start({}, busy))).toBe('in')
  })
})

async function inDatabase(work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(house!.databaseUrl, { max: 1, onnotice: () => {} })
  await work(sql)
  await sql.end()
}
