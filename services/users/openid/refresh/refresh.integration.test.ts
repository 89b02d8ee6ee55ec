import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { OIDCAppType, OIDCAuthMethodType, OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest, type IssueTokenResponse, RevokeTokenRequest } from '#gen/roster/users/v1/oauth_service'
import { ExplainSignInRequest, SignInReason } from '#gen/roster/users/v1/session_service'
import type { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { withdrawConsent } from '../consents/withdraw-consent.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { issueToken } from '../operations/issue-token.ts'
import { revokeToken } from '../operations/revoke-token.ts'
import { setPassword } from '../../directory/operations/password/set-password.ts'
import { deleteSession } from '../../sessions/operations/session/delete-session.ts'
import { deleteUserSessions } from '../../sessions/operations/session/delete-user-sessions.ts'
import { explainSignIn } from '../../pages/explain/explain-sign-in.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { readCode } from '../authorization/sealed-code.ts'
import { surplusAuthorizations } from '../authorization/surplus.ts'
import { surplusSessions } from '../../sessions/surplus.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { hashToken } from '../../directory/tokens/token.ts'
import { pruneAuthorizations } from '../authorization/prune-authorizations.ts'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  redirectUri,
  longNonce,
  sealedIn,
  told,
  Visitor,
} from '../authorization/testing/visitors.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

// All are public, but for `server`, and ask for no consent, but for `guest`.
const clients = ['phone', 'tablet', 'page', 'online', 'server', 'guest']
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(clients) })
  const settings = {
    redirectUris: [redirectUri],
    authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE,
  }
  for (const clientId of clients)
    await noteApplication(
      users,
      clientId,
      {
        ...settings,
        firstParty: clientId !== 'guest',
        ...(clientId === 'page' && { appType: OIDCAppType.OIDC_APP_TYPE_USER_AGENT }),
        ...(clientId === 'online' && { grantTypes: [OIDCGrantType.OIDC_GRANT_TYPE_AUTHORIZATION_CODE] }),
        ...(clientId === 'server' && { authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_POST }),
      },
      { organizationId: 'acme' },
    )
  await users.sql`update copies set secret_hash = ${hashToken('a secret')} where client_id = 'server'`
}, 60_000)

afterEach(() => shiftClock(users.sql, '0'))

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let people = 0

/** A person who signed in, in a browser. */
async function person() {
  const name = `p${people++}`
  const userId = await addPerson(users, name)
  const browser = new Visitor(users)
  const first = await browser.signIn(await browser.begin({ clientId: 'online' }), name)
  const { sessionId } = sealedIn(users, told(first).code!).granted
  return { userId, sessionId, allow, come, leaveCode }

  async function allow(clientId: string, scope = 'openid profile offline_access') {
    await browser.decide(await browser.begin({ clientId, scope }), 'allow')
  }

  /** The id of what is stored with a code that nobody redeems. */
  async function leaveCode() {
    const { code } = told(await browser.authorize({ clientId: 'phone', nonce: longNonce }))
    return readCode(users.keys, code!)!.authorizationId
  }

  /** Comes to an application, which gets tokens. `more`: what that presents beside the code. */
  async function come(
    clientId = 'phone',
    scope = 'openid profile offline_access',
    more: Partial<IssueTokenRequest> = {},
  ) {
    const { code } = told(await browser.authorize({ clientId, scope }))
    const tokens = await issue({
      clientId,
      grantType: 'authorization_code',
      code: code!,
      redirectUri,
      codeVerifier: 'verifier',
      ...more,
    })
    return { id: sealedIn(users, code!).authorizationId, ...tokens, refreshToken: tokens.refreshToken! }
  }
}

const issue = (request: Partial<IssueTokenRequest>, by = users): Promise<IssueTokenResponse> =>
  issueToken.handle(by, { ...IssueTokenRequest.decode(new Uint8Array()), ...request }, callIn(''))
const refresh = (refreshToken: string, more: Partial<IssueTokenRequest> = {}, by = users) =>
  issue({ clientId: 'phone', grantType: 'refresh_token', refreshToken, ...more }, by)
const revoke = (token: string, clientId = 'phone') =>
  revokeToken.handle(users, { ...RevokeTokenRequest.decode(new Uint8Array()), clientId, token }, callIn(''))

async function proof({ privateKey, publicKey }: Awaited<ReturnType<typeof generateKeyPair>>): Promise<string> {
  const htu = `${users.config.PUBLIC_URL}/oauth/v2/token`
  return new SignJWT({ htm: 'POST', htu, jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .setIssuedAt()
    .sign(privateKey)
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ reason }: RosterError) => reason,
  )
const opens = (accessToken: string) => reasonOf(authenticate(users, { tokenHash: hashToken(accessToken) }, callIn('')))
const stateOf = async (id: string): Promise<any> => (await users.store.load('authorization', id))?.state
const eventsOf = (id: string) =>
  users.sql<{ type: string; reason: string | null }[]>`
    select type, payload ->> 'reason' as reason from events
    where aggregate_type = 'authorization' and aggregate_id = ${id} order by sequence
  `.then((rows) => rows.map(({ type, reason }) => (reason === null ? type : `${type} ${reason}`)))
const living = (id: string) =>
  users.sql`select from authorizations where authorization_id = ${id}`.then(({ count }) => count > 0)
const invalid = 'INVALID_GRANT'

describe('a refresh token', () => {
  test('has one successor, which comes again with fresh tokens and without an event', async () => {
    const { id, ...first } = await (await person()).come()
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => refresh(first.refreshToken)))
    answers.push(await refresh(first.refreshToken))
    const [successor, ...others] = new Set(answers.map(({ refreshToken }) => refreshToken!))
    expect(others).toEqual([])
    expect(successor).not.toBe(first.refreshToken)
    expect(new Set(answers.map(({ accessToken }) => accessToken)).size).toBe(6)
    for (const { idToken } of answers) expect(idToken).toEqual(expect.any(String))
    for (const { accessToken } of answers) expect(await opens(accessToken)).toBe('ok')
    expect((await refresh(successor!)).refreshToken).not.toBe(successor)
    expect(await eventsOf(id)).toEqual(['granted', 'redeemed', 'refreshed', 'refreshed'])
  })

  test('that was used, and its successor too, ends all that came of it, and its thief and its owner are told so', async () => {
    const { id, ...first } = await (await person()).come()
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken!)
    await shiftClock(users.sql, '31 seconds')
    await expect(refresh(first.refreshToken)).rejects.toMatchObject({
      reason: invalid,
      message: expect.stringContaining('used before'),
    })
    expect(await reasonOf(refresh(third.refreshToken!))).toBe(invalid)
    for (const { accessToken } of [first, second, third]) expect(await opens(accessToken)).not.toBe('ok')
    expect((await eventsOf(id)).at(-1)).toBe('ended refresh-reuse')
    expect(await living(id)).toBe(false)
  })

  test('that was used is known to a process that starts later', async () => {
    const { id, ...first } = await (await person()).come()
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken!)
    const later = await openUsers(database.urls.users)
    onTestFinished(() => later.stop())
    expect((await refresh(second.refreshToken!, {}, later)).refreshToken).toBe(third.refreshToken)
    // Only the last uses are kept.
    await shiftClock(users.sql, '31 seconds')
    const fourth = await refresh(third.refreshToken!, {}, later)
    expect((await stateOf(id)).refreshTokens.used).toHaveLength(1)
    expect(await reasonOf(refresh(first.refreshToken, {}, later))).toBe(invalid)
    expect(await reasonOf(refresh(fourth.refreshToken!, {}, later))).toBe(invalid)
    expect((await eventsOf(id)).at(-1)).toBe('ended refresh-reuse')
  })

  test('whose answer was lost is good for a day more', async () => {
    const [one, other] = [await (await person()).come(), await (await person()).come()]
    const { refreshToken } = await refresh(one.refreshToken)
    await refresh(other.refreshToken)
    await shiftClock(users.sql, '23 hours')
    expect((await refresh(one.refreshToken)).refreshToken).toBe(refreshToken)
    await shiftClock(users.sql, '25 hours')
    expect(await reasonOf(refresh(other.refreshToken))).toBe(invalid)
    expect((await eventsOf(other.id)).at(-1)).toBe('ended refresh-reuse')
  })

  test('of another application, and a wrong text, change nothing', async () => {
    const { id, refreshToken } = await (await person()).come()
    const code = refreshToken.slice(0, -4)
    for (const wrong of ['x', code, `${refreshToken}A`]) expect(await reasonOf(refresh(wrong))).toBe(invalid)
    expect(await eventsOf(id)).toEqual(['granted', 'redeemed'])
    for (let n = 0; n < 12; n++) expect(await reasonOf(refresh(refreshToken, { clientId: 'tablet' }))).toBe(invalid)
    expect(await eventsOf(id)).toEqual(['granted', 'redeemed', ...Array<string>(10).fill('refused client')])
    expect(await reasonOf(refresh(refreshToken))).toBe('ok')
  })

  test('of a public application is bound to its key; a confidential one may take another', async () => {
    const [key, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')]
    const { come } = await person()
    const bound = await come('phone', undefined, { dpopProof: await proof(key) })
    for (const wrong of ['', await proof(other)])
      expect(await reasonOf(refresh(bound.refreshToken, { dpopProof: wrong }))).toBe(invalid)
    const { tokenType, refreshToken } = await refresh(bound.refreshToken, { dpopProof: await proof(key) })
    expect(tokenType).toBe('DPoP')
    const used = await proof(key)
    await refresh(refreshToken!, { dpopProof: used })
    expect(await reasonOf(refresh(refreshToken!, { dpopProof: used }))).toBe('DPOP_PROOF_INVALID')
    const [twice, again] = [Array<string>(2).fill('refused key'), Array<string>(2).fill('refreshed')]
    expect(await eventsOf(bound.id)).toEqual(['granted', 'redeemed', ...twice, ...again])
    const proved = { clientId: 'server', clientSecret: 'a secret' }
    const free = await come('server', undefined, { ...proved, dpopProof: await proof(key) })
    const answer = await refresh(free.refreshToken, { ...proved, dpopProof: await proof(other) })
    expect([answer.tokenType, await reasonOf(refresh(answer.refreshToken!, proved))]).toEqual(['DPoP', 'ok'])
  })

  test('is over after thirty days without a use, and ninety in all', async () => {
    const [idle, used] = [await (await person()).come(), await (await person()).come()]
    let { refreshToken } = used
    for (const days of [29, 58, 87]) {
      await shiftClock(users.sql, `${days} days`)
      refreshToken = (await refresh(refreshToken)).refreshToken!
    }
    await pruneAuthorizations(users.sql)
    expect([await living(idle.id), await living(used.id)]).toEqual([false, true])
    expect(await reasonOf(refresh(idle.refreshToken))).toBe(invalid)
    await shiftClock(users.sql, '91 days')
    expect(await reasonOf(refresh(refreshToken))).toBe(invalid)
    expect((await eventsOf(used.id)).at(-1)).toBe('ended expired')
    await pruneAuthorizations(users.sql)
    expect(await living(used.id)).toBe(false)
  })

  test('narrows the scope of one access token alone, and never widens it', async () => {
    const { refreshToken } = await (await person()).come()
    const narrow = await refresh(refreshToken, { scope: 'profile email' })
    expect(narrow).toMatchObject({ scope: 'profile', idToken: undefined })
    const { scope, idToken } = await refresh(narrow.refreshToken!)
    expect([scope, idToken]).toEqual(['openid profile offline_access', expect.any(String)])
    for (const scope of [
      'email',
      'openid\tprofile',
      'openid urn:zitadel:iam:org:id:acme',
      'openid,urn:zitadel:iam:org:id:',
    ])
      expect(await reasonOf(refresh(narrow.refreshToken!, { scope }))).toBe('INVALID_SCOPE')
  })

  test('comes only with offline_access, and only to applications with that grant', async () => {
    const { come } = await person()
    expect((await come('phone', 'openid')).refreshToken).toBeUndefined()
    const { refreshToken, scope } = await come('online')
    expect([refreshToken, scope]).toEqual([undefined, 'openid profile'])
    const { refreshToken: given } = await come('tablet')
    await users.sql`
      update copies set state = jsonb_set(state, '{oidc,grantTypes}', '[0]') where type = 'application' and client_id = 'tablet'
    `
    expect(await reasonOf(refresh(given, { clientId: 'tablet' }))).toBe('UNAUTHORIZED_CLIENT')
    await users.sql`
      update copies set state = jsonb_set(state, '{oidc,grantTypes}', '[0, 2]') where type = 'application' and client_id = 'tablet'
    `
  })

  test('may be used sixty times in half a minute', async () => {
    const { id, ...first } = await (await person()).come()
    let { refreshToken } = first
    for (let n = 0; n < 60; n++) refreshToken = (await refresh(refreshToken)).refreshToken!
    await expect(refresh(refreshToken)).rejects.toMatchObject({
      code: 8,
      reason: 'REFRESH_THROTTLED',
      retryAfter: expect.any(Number),
    })
    await shiftClock(users.sql, '31 seconds')
    expect(await reasonOf(refresh(refreshToken))).toBe('ok')
    expect(await eventsOf(id)).toHaveLength(63)
  })

  test('may be repeated sixty times in half a minute, and the family lives on', async () => {
    const { refreshToken } = await (await person()).come()
    const reasons = await Promise.all(Array.from({ length: 100 }, () => reasonOf(refresh(refreshToken))))
    // One of them is its first use. A second gives two back.
    expect(reasons.filter((reason) => reason === 'ok').length).toBeGreaterThanOrEqual(61)
    expect(new Set(reasons)).toEqual(new Set(['ok', 'REFRESH_THROTTLED']))
    await users.sql`update turns set paid_until = paid_until - interval '31 seconds'`
    const { refreshToken: successor } = await refresh(refreshToken)
    expect(await reasonOf(refresh(successor!))).toBe('ok')
  })
})

test('texts that are none are refused unlooked at after too many from an address, where right ones still are good', async () => {
  const stranger = (text: string) =>
    refresh(text).then(
      () => 'ok',
      ({ reason }: RosterError) => reason,
    )
  const { come } = await person()
  const [{ refreshToken }, over] = [await come(), await come()]
  await revoke(over.refreshToken)
  const texts = Array.from({ length: 500 }, (_, n) => refreshToken.slice(0, -4) + String(n).padStart(4, 'x'))
  // Other tests failed from this address.
  await users.sql`delete from turns`
  expect(new Set(await Promise.all(texts.map(stranger)))).toEqual(new Set(['INVALID_GRANT']))
  // Takes away the tokens that came back with time.
  await users.sql`update turns set paid_until = paid_until + interval '1 minute'`
  expect([await stranger('no token'), await stranger(texts[0]!)]).toEqual(['CLIENT_THROTTLED', 'CLIENT_THROTTLED'])
  // From the same address, of the same application.
  expect(await stranger(over.refreshToken)).toBe('INVALID_GRANT')
  expect(await stranger(refreshToken)).toBe('ok')
})

describe('it ends', () => {
  const ends = async (how: (of: { userId: string; sessionId: string; refreshToken: string }) => Promise<unknown>) => {
    const { userId, sessionId, come } = await person()
    const given = [await come(), await come('page'), await come('phone', 'openid')]
    await how({ userId, sessionId, refreshToken: given[0]!.refreshToken })
    const opened = await Promise.all(given.map(({ accessToken }) => opens(accessToken)))
    const refreshed = await Promise.all(
      [refresh(given[0]!.refreshToken), refresh(given[1]!.refreshToken, { clientId: 'page' })].map(reasonOf),
    )
    await Promise.all([surplusSessions, surplusAuthorizations].map(({ end }) => end(users)))
    const last = await Promise.all(
      given.map(async ({ id }) => (await eventsOf(id)).at(-1)!.replace('refreshed', 'goes on')),
    )
    return [
      opened.map((one) => one === 'ok'),
      refreshed.map((one) => one === 'ok'),
      last.map((one) => one.replace('redeemed', 'goes on')),
    ]
  }

  test('with its session, where it is of an application in the browser or has no refresh token', async () => {
    const ended = await ends(({ sessionId }) =>
      deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme')),
    )
    const out = expect.stringMatching(/^ended (signed|shut)-out$/) as string
    expect(ended).toEqual([
      [true, false, false],
      [true, false],
      ['goes on', out, out],
    ])
  })

  test.each([
    ['the end of all sessions', ({ userId }) => deleteUserSessions.handle(users, { userId }, callIn('acme'))],
    [
      'a new password',
      ({ userId }) =>
        setPassword.handle(
          users,
          { userId, newPassword: { password: 'another-password', changeRequired: false } },
          callIn('acme'),
        ),
    ],
    [
      'a lock, also after its end',
      async ({ userId }) => {
        await lockUser(users, { userId }, callIn('acme'))
        await unlockUser(users, { userId }, callIn('acme'))
      },
    ],
  ] as [string, (of: { userId: string }) => Promise<unknown>][])('with %s, whatever it is', async (_, how) => {
    const out = expect.stringMatching(/^ended (signed|shut)-out$/) as string
    expect(await ends(how)).toEqual([
      [false, false, false],
      [false, false],
      [out, out, out],
    ])
  })

  test('with a lock that comes between a look at it and its decision', async () => {
    const { userId, come } = await person()
    const { id, refreshToken } = await come()
    const { execute } = users.store
    vi.spyOn(users.store, 'execute').mockImplementationOnce(async (command) => {
      await lockUser(users, { userId }, callIn('acme'))
      return execute(command)
    })
    expect(await reasonOf(refresh(refreshToken))).toBe(invalid)
    await Promise.all([surplusSessions, surplusAuthorizations].map(({ end }) => end(users)))
    expect((await eventsOf(id)).at(-1)).toMatch(/^ended (signed|shut)-out$/)
  })

  test('with the consent that it stands on, also after that is given again', async () => {
    const { userId, allow, come } = await person()
    const asking = { clientId: 'guest' }
    await allow('guest')
    const { id, ...first } = await come('guest')
    const { refreshToken, accessToken } = await refresh(first.refreshToken, asking)
    await withdrawConsent.handle(users, { userId, applicationId: 'app-guest' }, callIn('acme'))
    await allow('guest')
    for (const token of [first.accessToken, accessToken]) expect(await opens(token)).toBe('TOKEN_INVALID')
    expect(await reasonOf(refresh(refreshToken!, asking))).toBe(invalid)
    expect((await eventsOf(id)).at(-1)).toBe('ended shut-out')
    const again = await come('guest')
    expect(await reasonOf(refresh(again.refreshToken, asking))).toBe('ok')
  })

  test('when its session expires, where it is of an application in the browser', async () => {
    const { come } = await person()
    const [phone, page] = [await come(), await come('page')]
    await shiftClock(users.sql, '13 hours')
    expect(await reasonOf(refresh(phone.refreshToken))).toBe('ok')
    expect(await reasonOf(refresh(page.refreshToken, { clientId: 'page' }))).toBe(invalid)
    expect((await eventsOf(page.id)).at(-1)).toBe('ended shut-out')
  })

  test('alone, where it is revoked by its own application', async () => {
    expect(await ends(({ refreshToken }) => revoke(refreshToken, 'tablet'))).toEqual([
      [true, true, true],
      [true, true],
      ['goes on', 'goes on', 'goes on'],
    ])
    expect(await ends(({ refreshToken }) => revoke(refreshToken))).toEqual([
      [false, true, true],
      [false, true],
      ['ended revoked', 'goes on', 'goes on'],
    ])
  })

  test('with a lock, and an explanation says so, before its end is published and after', async () => {
    const { userId, come } = await person()
    const { id: authorizationId } = await come()
    await lockUser(users, { userId }, callIn('acme'))
    const explained = async () => {
      const application = { $case: 'applicationId' as const, value: 'app-phone' }
      const request = { ...ExplainSignInRequest.decode(new Uint8Array()), userId, application, authorizationId }
      return (await explainSignIn.handle(users, request, callIn('acme'))).refusal?.reason
    }
    const before = await explained()
    await Promise.all([surplusSessions, surplusAuthorizations].map(({ end }) => end(users)))
    expect((await eventsOf(authorizationId)).at(-1)).toBe('ended signed-out')
    expect([before, await explained()]).toEqual(Array(2).fill(SignInReason.SIGN_IN_REASON_USER_LOCKED))
  })

  test('as the oldest of eleven of a session with an application, or of fifty-one with refresh tokens', async () => {
    const { come } = await person()
    const short = []
    for (let n = 0; n < 11; n++) short.push(await come('page', 'openid'))
    const [oldest, next] = short
    expect([await opens(oldest!.accessToken), await opens(next!.accessToken)]).toEqual(['TOKEN_INVALID', 'ok'])
    const other = await come('tablet')
    const long = []
    for (let n = 0; n < 51; n++) long.push(await come())
    expect([await living(long[0]!.id), await living(long[1]!.id), await living(other.id)]).toEqual([false, true, true])
    expect((await eventsOf(long[0]!.id)).at(-1)).toBe('ended surplus')
    expect(await reasonOf(refresh(long[0]!.refreshToken))).toBe(invalid)
    expect(await users.sql`select from surplus_authorizations`).toHaveLength(0)
  })

  test('a day after a code that nobody used, and a month after its end, nothing is left of it but events', async () => {
    const { userId, come, leaveCode } = await person()
    const { id } = await come()
    const unused = await leaveCode()
    await pruneAuthorizations(users.sql)
    expect(await stateOf(unused)).toBeDefined()
    await shiftClock(users.sql, '25 hours')
    await pruneAuthorizations(users.sql)
    expect(await stateOf(unused)).toBeUndefined()
    await deleteUserSessions.handle(users, { userId }, callIn('acme'))
    await Promise.all([surplusSessions, surplusAuthorizations].map(({ end }) => end(users)))
    await shiftClock(users.sql, '33 days')
    await pruneAuthorizations(users.sql)
    expect(await stateOf(id)).toBeUndefined()
    expect((await eventsOf(id)).at(-1)).toBe('ended signed-out')
  })
})
