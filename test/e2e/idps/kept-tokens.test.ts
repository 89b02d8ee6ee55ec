import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { basic, newClient, sendForm } from '../../examples/oauth.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { introspect } from '../../examples/person-tokens.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { type LyingUpstream, startLyingUpstream } from '../../support/upstreams/lying-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings, recordSecret } from '../clients/encodings.ts'
import { leadsTo, listProviders, press } from './provider-stage.ts'

// The tokens of a person at a provider, for applications that the person lets use them.

const { house, url } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const scope = 'openid urn:roster:provider_tokens'
const sql = house && postgres(house.databaseUrl, { max: 1 })

let home: string
let application: ExampleApplication
let upstream: LyingUpstream
let idpId: string
/** What the provider gives in the next sign-in. */
let given: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startLyingUpstream(ends)])
  const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
  application = await newWebApplication(home, await newProject(home), { grantTypes })
  idpId = await newProvider()
  await listProviders(home, [idpId])
})
afterAll(() => Promise.all([upstream?.stop(), sql?.end()]))

const ends = { end_session_endpoint: '{url}/end' }
const settings = () => ({ name: unique('Acme'), clientId: 'roster', clientSecret: 'a secret', issuer: upstream.url })
const newProvider = async () =>
  ok(await call('AddOrganizationOIDCIDP', { ...settings(), autoRegister: true }, admin(home))).idpId as string
beforeEach(async () => {
  if (!house) return
  await keep(true)
  give()
})

const keep = async (keepTokens: boolean) =>
  ok(await call('SetOrganizationIDPSessions', { idpId, keepTokens }, admin(home)))

function give(accessToken = unique('token-of-the-provider'), more: object = {}) {
  given = accessToken
  recordSecret(given)
  upstream.gives = { access_token: given, scope: 'openid files', ...more }
}

const newPerson = () => ({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })

/** Signs in there, and returns what the application gets. */
async function come(person = newPerson(), asked = scope, browser = openBrowser(), at = idpId) {
  upstream.claims = person
  const page = await browser.visit(authorizePath(application, { scope: asked }))
  const back = await browser.visit(upstream.back(leadsTo(await press(browser, page, at))))
  const isAsked = back.body.includes('value="allow"')
  const shown = isAsked ? await browser.submit(back, { action: 'allow' }) : back
  const code = new URL(shown.location || leadsTo(shown)).searchParams.get('code')!
  const { body } = await redeem(application, code)
  const { access_token: token, id_token: idToken, refresh_token: refreshToken } = body as Record<string, string>
  recordSecret(token!)
  const { sub: userId } = JSON.parse(Buffer.from(idToken!.split('.')[1]!, 'base64url').toString())
  return { token: token!, userId: userId as string, idToken: idToken!, refreshToken: refreshToken!, isAsked }
}

async function read(token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/oauth/v2/provider_tokens`, { method: 'POST', headers })
  return { status: answer.status, ...((await answer.json()) as Record<string, unknown>) } as Record<string, unknown>
}

const reasonOf = async (token: string) =>
  factsOf(await encodings[1].call('RetrieveProviderTokens', {}, { token })).reason
const stored = async (userId: string) =>
  (await sql!`select tokens from roster_users.provider_sessions where user_id = ${userId}`).map(({ tokens }) => tokens)

describe.skipIf(!house)(`tokens of a provider${why}`, () => {
  test('are read by an application with the scope, of the session that it is in, and of the last sign-in there', async () => {
    const person = newPerson()
    const first = await come(person)
    const answer = await read(first.token)
    expect(answer).toMatchObject({ status: 200, idp_id: idpId, access_token: given, token_type: 'Bearer' })
    expect(answer).toMatchObject({
      scope: 'openid files',
      expires_at: expect.any(Number),
      id_token: expect.any(String),
    })
    expect(JSON.stringify(answer)).not.toContain('a refresh token')
    const former = given
    give()
    const other = await come(person)
    expect(await read(other.token)).toMatchObject({ access_token: given })
    expect(await read(first.token)).toMatchObject({ access_token: former })
    // In the same browser, the later one counts.
    const browser = openBrowser()
    give()
    const before = await come(person, scope, browser)
    give()
    await come(person, `${scope} profile`, openBrowser())
    expect(await read(before.token)).not.toMatchObject({ access_token: given })
  })

  test('are the person’s to give, once, also to an application that is a first party', async () => {
    const [person, browser] = [newPerson(), openBrowser()]
    expect((await come(person, 'openid profile', browser)).isAsked).toBe(false)
    const silently = () => browser.visit(authorizePath(application, { scope, prompt: 'none' }))
    expect((await silently()).location).toContain('error=consent_required')
    expect((await come(person)).isAsked).toBe(true)
    expect((await silently()).location).toContain('code=')
    expect((await come(person)).isAsked).toBe(false)
  })

  test('are not for an application without the scope, nor in the database, the history and the log', async () => {
    const { token, userId } = await come(newPerson(), 'openid profile')
    expect(await reasonOf(token)).toBe('PERMISSION_DENIED')
    expect(await reasonOf(admin().token)).toBe('PERMISSION_DENIED')
    const rows = await stored(userId)
    expect(rows).toEqual([expect.any(String)])
    expect(rows.join()).not.toContain(given)
    const { changes } = ok(await call('ListUserChanges', { userId }, admin(home)))
    expect(JSON.stringify(changes)).not.toContain(given)
  })

  test('are not for whom an application gives a token with fewer scopes', async () => {
    const { token, refreshToken } = await come(newPerson(), `${scope} offline_access`)
    expect(await read(token)).toMatchObject({ access_token: given })
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, redirect_uri: '', code_verifier: '' }
    const fewer = (await redeem(application, '', { ...form, scope: 'openid' })).body as Record<string, string>
    for (const secret of [fewer['access_token'], fewer['refresh_token']]) recordSecret(secret)
    expect(fewer['scope']).toBe('openid')
    expect(await reasonOf(fewer['access_token']!)).toBe('PERMISSION_DENIED')
    const told = await introspect(application, fewer['access_token']!)
    expect(told).toMatchObject({ active: true, scope: expect.not.stringContaining('provider_tokens') })
    const next = await redeem(application, '', { ...form, refresh_token: fewer['refresh_token']! })
    const whole = next.body as Record<string, string>
    for (const secret of [whole['access_token'], whole['refresh_token']]) recordSecret(secret)
    expect(await read(whole['access_token']!)).toMatchObject({ access_token: given })
    const { userId, secret } = await newClient({ organization: home })
    const asked = { grant_type: 'client_credentials', scope }
    const { body } = await sendForm('/oauth/v2/token', asked, { headers: basic(userId, secret) })
    expect(body).toMatchObject({ error: 'invalid_scope' })
  })

  test('of an organization’s provider are for no application of another organization, which nobody is asked to let have them', async () => {
    const elsewhere = await newOrganization()
    const anybody = { name: unique('Project'), hasProjectCheck: false }
    const { id: projectId } = ok(await call('AddProject', anybody, admin(elsewhere)))
    const foreign = await newWebApplication(elsewhere, projectId)
    const [person, browser] = [newPerson(), openBrowser()]
    const { userId } = await come(person, scope, browser)
    const asked = await browser.visit(authorizePath(foreign, { scope }))
    const words = 'act on your behalf at the provider'
    expect(asked.body).toContain('value="allow"')
    expect(asked.body).not.toContain(words)
    // Who came by no provider may come by one later.
    const member = await newHuman(await newOrganization(), { password: unique('Password') })
    const other = openBrowser()
    const page = await other.visit(authorizePath(foreign, { scope, login_hint: member.userName }))
    const { password } = member
    expect((await other.submit(page, { action: 'sign-in', password })).body).toContain(words)
    const shown = await browser.submit(asked, { action: 'allow' })
    const code = new URL(shown.location || leadsTo(shown)).searchParams.get('code')!
    const { body } = await redeem(foreign, code)
    const { access_token: token, scope: has } = body as Record<string, string>
    recordSecret(token)
    expect([has, (await stored(userId)).length]).toEqual(['openid', 1])
    expect(await reasonOf(token!)).toBe('PERMISSION_DENIED')
    const [session] = await sql!`select session_id from roster_users.provider_sessions where user_id = ${userId}`
    const { session_id: sessionId } = session as { session_id: string }
    const explained = { clientId: foreign.clientId, userId, sessionId, scopes: scope.split(' ') }
    const { leftOutScopes } = ok(await call('ExplainSignIn', explained, admin()))
    expect(leftOutScopes).toEqual([
      { scope: 'urn:roster:provider_tokens', sentence: expect.stringContaining('a provider of another organization') },
    ])
  })

  test('are of the issuer that gave them: neither the application nor another issuer gets them once the record names that', async () => {
    const [moved, other] = [await newProvider(), await startLyingUpstream(ends)]
    await listProviders(home, [idpId, moved])
    ok(
      await call('SetOrganizationIDPSessions', { idpId: moved, keepTokens: true, logoutAtProvider: true }, admin(home)),
    )
    const browser = openBrowser()
    const { token, userId, idToken } = await come(newPerson(), scope, browser, moved)
    await vi.waitFor(async () => expect(await read(token)).toMatchObject({ idp_id: moved, access_token: given }))
    const before = await stored(userId)
    const change = { idpId: moved, issuer: other.url, clientId: 'roster' }
    ok(await call('UpdateOrganizationIDPOIDCConfig', change, admin(home)))
    await vi.waitFor(async () => expect(await stored(userId)).toEqual([null]), { timeout: 5000 })
    // A sign-in that had begun is kept after the change.
    await sql!`update roster_users.provider_sessions set tokens = ${before[0]} where user_id = ${userId}`
    expect(await reasonOf(token)).toBe('PROVIDER_TOKENS_NOT_FOUND')
    const { location } = await browser.visit(`/oidc/v1/end_session?id_token_hint=${idToken}`)
    const to = new URL(location)
    expect(`${to.origin}${to.pathname}`).toBe(`${other.url}/end`)
    expect(to.searchParams.has('id_token_hint')).toBe(false)
    await listProviders(home, [idpId])
    await other.stop()
  })

  test('are kept only where the record says so, and no more than 16 KiB', async () => {
    const { token } = await come()
    await keep(false)
    await vi.waitFor(async () => expect(await reasonOf(token)).toBe('PROVIDER_TOKENS_NOT_FOUND'), { timeout: 1000 })
    const without = await come()
    expect(await reasonOf(without.token)).toBe('PROVIDER_TOKENS_NOT_FOUND')
    // What was forgotten does not come back.
    await keep(true)
    const again = await come()
    await vi.waitFor(async () => expect(await read(again.token)).toMatchObject({ access_token: given }))
    expect([await reasonOf(token), await reasonOf(without.token)]).toEqual(Array(2).fill('PROVIDER_TOKENS_NOT_FOUND'))
    give('x'.repeat(16 * 1024 + 1))
    expect(await reasonOf((await come()).token)).toBe('PROVIDER_TOKENS_NOT_FOUND')
  })

  test('end with the link, with a lock, and with the provider', async () => {
    const [unlinked, locked, last] = [await come(), await come(), await come()]
    const password = unique('Password')
    recordSecret(password)
    ok(await call('SetPassword', { userId: unlinked.userId, newPassword: { password } }, admin(home)))
    const { links } = ok(await call('ListIDPLinks', { userId: unlinked.userId }, admin(home)))
    const link = { userId: unlinked.userId, idpId, linkedUserId: links[0].userId }
    ok(await call('RemoveIDPLink', link, admin(home)))
    ok(await call('LockUser', { userId: locked.userId }, admin(home)))
    for (const { token, userId } of [unlinked, locked]) {
      await vi.waitFor(async () => expect(await reasonOf(token)).toBe('TOKEN_INVALID'), { timeout: 1000 })
      expect((await stored(userId)).filter((tokens) => tokens !== null)).toEqual([])
    }
    expect(await read(last.token)).toMatchObject({ status: 200 })
    ok(await call('DeactivateOrganizationIDP', { idpId }, admin(home)))
    await vi.waitFor(async () => expect(await stored(last.userId)).toEqual([null]), { timeout: 5000 })
    expect((await read(last.token))['status']).toBe(401)
  })
})
