import { decodeJwt, type JWTPayload } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { instance } from '#lib/instance'
import { OIDCAppType, OIDCAuthMethodType, OIDCTokenType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { ExplainSignInRequest, SignInReason } from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { FactorWay, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import {
  longNonce,
  noteApplication,
  redirectUri,
  requestOf,
  told,
} from '../../openid/authorization/testing/visitors.ts'
import { consoleCallback } from '../../openid/applications/console-application.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { itself } from '../../openid/scope.ts'
import {
  addApp,
  App,
  type Person,
  set,
  setPolicy,
  signIn as openSession,
} from '../../sessions/factors/testing/second-factors.ts'
import {
  asked,
  call,
  closeWorld,
  errorOf,
  newPerson as person,
  openWorld,
  users,
  Visitor as Anyone,
  withPasskey,
} from '../../sessions/factors/passkey/testing/world.ts'
import { shiftClock } from '#test/support/shift-clock'
import { callIn } from '../../testing/test-users.ts'
import { setPassword } from '../../sessions/operations/set-password.ts'
import { explainSignIn } from '../explain/explain-sign-in.ts'
import { checkCode } from '../operations/sign-in/check-code.ts'
import { createCallback } from '../own-pages/create-callback.ts'
import { getAuthRequest } from '../own-pages/get-auth-request.ts'

const { SECOND_FACTOR_TYPE_U2F: byPasskey, SECOND_FACTOR_TYPE_OTP: byApp } = SecondFactorType
const [one, two, phr] = ['urn:roster:acr:1', 'urn:roster:acr:2', 'phr']

beforeAll(async () => {
  await openWorld()
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  const own = { firstParty: true, authMethodType, loginBaseUri: 'https://login.example.com', rosterApi: true }
  await noteApplication(users, 'elsewhere', own, { organizationId: 'acme' })
  const accessTokenType = OIDCTokenType.OIDC_TOKEN_TYPE_JWT
  await noteApplication(
    users,
    'client',
    { firstParty: true, authMethodType, accessTokenType },
    { organizationId: 'acme' },
  )
}, 60_000)
afterAll(closeWorld)
beforeEach(() => setPolicy(users, { allowPasskeys: true }))
afterEach(() => shiftClock(users.sql, '0 seconds'))

class Visitor extends Anyone {
  async code({ requestId, formToken }: PageAnswer, given: { code?: string; action?: string; factor?: string }) {
    const request = {
      browser: this.cookie,
      requestId,
      formToken,
      code: '',
      action: 'check',
      factor: 'totp',
      trust: '',
      trusts: '',
      ...given,
    }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }
}

const essential = (...values: string[]) => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, values } } }),
})
const arrive = async ({ userName }: { userName: string }) => {
  const visitor = new Visitor(users)
  expect(told(await visitor.signIn(await visitor.begin(), userName))).toHaveProperty('code')
  return visitor
}
async function newPerson(): Promise<Person> {
  const own = await person()
  return { ...own, email: `${own.userName}@example.com` }
}
async function withApp() {
  const own = await newPerson()
  return { own, app: await addApp(users, own) }
}
/** Nobody proves a second factor then who has no passkey. */
const allowPasskeysAlone = () => setPolicy(users, { allowPasskeys: true, secondFactors: { types: [byPasskey] } })
async function exchange(proof: object) {
  const request = { ...codec.decode(new Uint8Array()), clientId: 'client', ...proof }
  return issueToken.handle(users, request, callIn(''))
}
async function tokensOf(page: PageAnswer) {
  const answer = await exchange({
    grantType: 'authorization_code',
    code: told(page)['code']!,
    codeVerifier: 'verifier',
    redirectUri,
  })
  return { ...answer, claims: decodeJwt(answer.idToken!), access: decodeJwt(answer.accessToken) }
}
const acrOf = async (page: PageAnswer) => (await tokensOf(page)).claims['acr']
/** Who knows the first password would else add a factor that outlives it. */
test('nobody sets up a second factor, whatever an application asks for, before the password that somebody else set is another', async () => {
  const own = await newPerson()
  const handed = { password: `${own.userName}-password`, changeRequired: true }
  await setPassword.handle(users, { userId: own.userId, newPassword: handed }, call())
  const visitor = new Visitor(users)
  const page = await visitor.signIn(await visitor.begin(essential(two)), own.userName)
  expect(pageOf(page)).toBe('newPassword')
  expect(pageOf(await visitor.code(page, { action: 'set-up' }))).toBe('newPassword')
})

const mayPassOver = ({ answer }: PageAnswer) => (answer?.value as { mayPassOver?: boolean } | undefined)?.mayPassOver
const pageOf = ({ answer }: PageAnswer) => answer?.$case

describe('acr_values', () => {
  test('asks who is signed in for a second factor, which counts for the next request', async () => {
    const { own, app } = await withApp()
    const visitor = new Visitor(users)
    const first = await visitor.signIn(await visitor.begin(), own.userName)
    const tokens = await tokensOf(await visitor.code(first, { code: await app.code(1) }))
    expect(tokens.claims).toMatchObject({ acr: two, amr: ['pwd', 'otp', 'mfa'] })
    expect(await acrOf(await visitor.authorize({ acrValues: two }))).toBe(two)
    // The one that was asked for is returned, though more was done.
    expect(await acrOf(await visitor.authorize({ acrValues: `${one} ${two}` }))).toBe(one)
    expect(await acrOf(await visitor.authorize({ acrValues: `urn:other ${two}` }))).toBe(two)
    expect(await acrOf(await visitor.authorize({ acrValues: 'urn:other' }))).toBe(two)
  })

  test('may be passed over by the person, and the application learns what was done', async () => {
    const own = await newPerson()
    const visitor = await arrive(own)
    const page = await visitor.begin({ acrValues: two })
    expect([pageOf(page), mayPassOver(page)]).toEqual(['code', true])
    expect(await acrOf(await visitor.code(page, { action: 'pass-over' }))).toBe(one)
    // The next request asks again.
    const sent = await visitor.code(await visitor.begin({ acrValues: two }), { action: 'send' })
    expect(sent.answer?.value).toMatchObject({ isSent: true, mayPassOver: true })
  })

  test('signs in who has no second factor with what there is', async () => {
    await allowPasskeysAlone()
    const visitor = await arrive(await newPerson())
    expect(await acrOf(await visitor.authorize({ acrValues: `${phr} ${two}` }))).toBe(one)
  })

  test('shows no page with prompt=none, and says what was done', async () => {
    const visitor = await arrive(await newPerson())
    expect(await acrOf(await visitor.authorize({ acrValues: two, prompt: 'none' }))).toBe(one)
  })

  test('takes the first that the person can prove, then the next that is not passed over', async () => {
    const { person: own, authenticator } = await withPasskey()
    const visitor = await arrive(own)
    const page = await visitor.begin({ acrValues: `${phr} ${two}` })
    expect([pageOf(page), mayPassOver(page), asked(page).userVerification]).toEqual(['passkey', true, 'required'])
    const next = await visitor.pass(page, undefined, 'pass-over')
    // A passkey serves here, too, and may be one that checks nobody.
    expect([pageOf(next), mayPassOver(next), asked(next).userVerification]).toEqual(['passkey', true, 'preferred'])
    const answer = await visitor.pass(next, authenticator.get(asked(next), { uv: false }))
    const { claims } = await tokensOf(answer)
    expect(claims).toMatchObject({ acr: two, amr: ['pwd', 'pop', 'user', 'mfa'] })
  })

  test('phr wants a passkey that checked the person, and moves the time of the sign-in', async () => {
    const { person: own, authenticator } = await withPasskey()
    const visitor = await arrive(own)
    await shiftClock(users.sql, '300 seconds')
    const page = await visitor.begin({ acrValues: phr })
    const unchecked = await visitor.pass(page, authenticator.get(asked(page), { uv: false }))
    expect(errorOf(unchecked)).toBe('SIGN_IN_ERROR_PASSKEY_UNVERIFIED')
    const { claims } = await tokensOf(await visitor.pass(unchecked, authenticator.get(asked(unchecked))))
    expect(claims['acr']).toBe(phr)
    expect(claims['auth_time']).toBeGreaterThan(Date.now() / 1000 + 200)
    // A higher one satisfies a lower one.
    expect(await acrOf(await visitor.authorize(essential(two)))).toBe(two)
  })

  test('a passkey counts for nothing where the policy allows none', async () => {
    const { person: own, authenticator } = await withPasskey()
    const visitor = new Visitor(users)
    const page = await visitor.begin()
    await tokensOf(await visitor.pass(page, authenticator.get(asked(page))))
    await setPolicy(users, { allowPasskeys: false })
    const again = await visitor.begin(essential(phr))
    expect(pageOf(again)).toBe('signIn')
    expect(told(await visitor.signIn(again, own.userName))['error']).toBe('unmet_authentication_requirements')
  })
})

describe('an essential acr', () => {
  test('is met, or there is no code', async () => {
    const own = await newPerson()
    const visitor = await arrive(own)
    const silent = await visitor.authorize({ ...essential(two), prompt: 'none' })
    expect(told(silent)['error']).toBe('unmet_authentication_requirements')
    const page = await visitor.begin(essential(two))
    expect([pageOf(page), mayPassOver(page)]).toEqual(['code', false])
    // The button of another page changes nothing.
    const forced = await visitor.code(page, { action: 'pass-over' })
    expect([pageOf(forced), mayPassOver(forced)]).toEqual(['code', false])
  })

  test('that the person cannot meet is an error for the application', async () => {
    await allowPasskeysAlone()
    const own = await newPerson()
    const visitor = await arrive(own)
    for (const value of [two, phr]) {
      const page = await visitor.show(requestOf(await visitor.authorize(essential(value))))
      expect(told(page)).toMatchObject({ error: 'unmet_authentication_requirements', state: 'the state' })
    }
    const fresh = new Visitor(users)
    const late = await fresh.signIn(await fresh.begin(essential(two)), own.userName)
    expect(told(late)['error']).toBe('unmet_authentication_requirements')
    expect(await acrOf(await visitor.authorize(essential(phr, one)))).toBe(one)
    // One that nobody knows is passed over beside one that is known.
    expect(await acrOf(await visitor.authorize(essential('urn:other', one)))).toBe(one)
    expect(told(await visitor.authorize(essential('urn:other')))['error']).toBe('unmet_authentication_requirements')
  })

  test('makes who may set up an app do so in the sign-in', async () => {
    await setPolicy(users, { allowPasskeys: true, secondFactors: { types: [byApp] } })
    const own = await newPerson()
    const visitor = await arrive(own)
    const page = await visitor.begin(essential(two))
    expect(pageOf(page)).toBe('totpSetUp')
    const begun = await visitor.code(page, { action: 'set-up' })
    const { secret } = begun.answer!.value as { secret: { text: string } }
    const app = new App(users, secret.text)
    expect(await acrOf(await visitor.code(begun, { action: 'confirm', code: await app.code() }))).toBe(two)
    // Who does not have to have one is not made to.
    const other = await arrive(await newPerson())
    expect(await acrOf(await other.authorize({ acrValues: two }))).toBe(one)
  })

  test('counts in place of acr_values, and voluntary claims do, too', async () => {
    const visitor = await arrive(await newPerson())
    expect(mayPassOver(await visitor.begin({ acrValues: one, ...essential(two) }))).toBe(false)
    const claims = JSON.stringify({ id_token: { acr: { value: two } } })
    expect(mayPassOver(await visitor.begin({ claims }))).toBe(true)
    expect(await acrOf(await visitor.authorize({ claims: '{"id_token":{"acr":{"essential":true}}}' }))).toBe(one)
  })

  test('with max_age or prompt=login wants both factors again', async () => {
    const { own, app } = await withApp()
    const visitor = new Visitor(users)
    const first = await visitor.signIn(await visitor.begin(), own.userName)
    await tokensOf(await visitor.code(first, { code: await app.code(1) }))
    await shiftClock(users.sql, '300 seconds')
    expect(await acrOf(await visitor.authorize({ ...essential(two), maxAge: '400' }))).toBe(two)
    for (const [index, fresh] of [{ prompt: 'login' }, { maxAge: '60' }].entries()) {
      await shiftClock(users.sql, `${400 + index * 100} seconds`)
      const page = await visitor.begin({ ...essential(two), ...fresh })
      expect(pageOf(page)).toBe('signIn')
      const next = await visitor.signIn(page, own.userName)
      expect(next.answer?.value).toMatchObject({ way: FactorWay.FACTOR_WAY_TOTP, mayPassOver: false })
    }
    // Without it the second one of the session counts, as the policy has it.
    const again = await visitor.signIn(
      await visitor.begin({ prompt: 'login', scope: 'openid offline_access' }),
      own.userName,
    )
    const { claims, refreshToken } = await tokensOf(again)
    expect(claims).toMatchObject({ acr: one, amr: ['pwd'] })
    const refreshed = await exchange({ grantType: 'refresh_token', refreshToken })
    expect(decodeJwt(refreshed.idToken!)).toMatchObject({ acr: one, amr: ['pwd'] })
  })
})

describe('a token for Roster', () => {
  const loopback = 'http://127.0.0.1/callback'
  const forRoster = { clientId: 'command', redirectUri: loopback, scope: `openid offline_access ${itself}` }

  test('needs a first factor of the last ten minutes, also where the person let the application in before', async () => {
    const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
    const appType = OIDCAppType.OIDC_APP_TYPE_NATIVE
    const command = { authMethodType, appType, redirectUris: [loopback], rosterApi: true }
    await noteApplication(users, 'command', command)
    const own = await newPerson()
    const visitor = await arrive(own)
    const silently = async () => told(await visitor.authorize({ ...forRoster, prompt: 'none' }))
    await shiftClock(users.sql, '11 minutes')
    const page = await visitor.begin({ ...forRoster, maxAge: '86400' })
    expect(pageOf(page)).toBe('signIn')
    const code = told(await visitor.decide(await visitor.signIn(page, own.userName), 'allow'))['code']!
    const proof = { clientId: 'command', codeVerifier: 'verifier', redirectUri: loopback }
    const { refreshToken } = await exchange({ grantType: 'authorization_code', code, ...proof })
    await shiftClock(users.sql, '22 minutes')
    expect(await silently()).toMatchObject({ error: 'login_required' })
    expect(pageOf(await visitor.begin(forRoster))).toBe('signIn')
    // What the application has goes on, and so does what is not for Roster.
    expect(await exchange({ grantType: 'refresh_token', clientId: 'command', refreshToken })).toHaveProperty(
      'accessToken',
    )
    expect(pageOf(await visitor.begin({ ...forRoster, scope: 'openid' }))).toBe('consent')
    // A first party is asked for no consent, and for the factor all the same.
    await noteApplication(users, 'command', { ...command, firstParty: true }, { organizationId: 'acme' })
    expect(await silently()).toMatchObject({ error: 'login_required' })
    await visitor.signIn(await visitor.begin(forRoster), own.userName)
    expect(await silently()).toHaveProperty('error', 'interaction_required')
  })

  test('needs it also where the page of the consent was left open', async () => {
    const own = await newPerson()
    const command = { appType: OIDCAppType.OIDC_APP_TYPE_NATIVE, redirectUris: [loopback], rosterApi: true }
    await noteApplication(users, 'left', command)
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin({ ...forRoster, clientId: 'left' }), own.userName)
    expect(pageOf(page)).toBe('consent')
    await shiftClock(users.sql, '11 minutes')
    const next = await visitor.decide(page, 'allow')
    expect(pageOf(next)).toBe('signIn')
    expect(told(await visitor.decide(await visitor.signIn(next, own.userName), 'allow'))).toHaveProperty('code')
  })

  test('is not what the console asks for, which asks again before what is dangerous', async () => {
    const visitor = await arrive(await newPerson())
    await shiftClock(users.sql, '11 minutes')
    const { clientId } = instance.console
    const page = await visitor.authorize({
      clientId,
      redirectUri: consoleCallback(users.config),
      scope: `openid ${itself}`,
    })
    expect(told(page)).toHaveProperty('code')
  })
})

describe('tokens', () => {
  test('for an API have acr and auth_time, which a refresh does not change', async () => {
    const { own, app } = await withApp()
    for (const nonce of ['short', longNonce]) {
      const visitor = new Visitor(users)
      const page = await visitor.begin({ ...essential(two), nonce, scope: 'openid offline_access' })
      const next = await visitor.signIn(page, own.userName)
      await shiftClock(users.sql, nonce === 'short' ? '30 seconds' : '60 seconds')
      const { access, claims, refreshToken } = await tokensOf(await visitor.code(next, { code: await app.code(1) }))
      const said = ({ acr, auth_time }: JWTPayload) => ({ acr, auth_time })
      expect(said(access)).toEqual({ acr: two, auth_time: claims['auth_time'] })
      await shiftClock(users.sql, '600 seconds')
      // The session gets another first factor, and what the application has stays.
      await visitor.signIn(await visitor.begin({ prompt: 'login' }), own.userName)
      const refreshed = await exchange({ grantType: 'refresh_token', refreshToken })
      expect(said(decodeJwt(refreshed.accessToken))).toEqual(said(access))
      expect(said(decodeJwt(refreshed.idToken!))).toEqual(said(access))
      await shiftClock(users.sql, '0 seconds')
    }
  })
})

describe('a login application', () => {
  const begin = async (parameters: object) => {
    const answer = await new Visitor(users).authorize({ clientId: 'elsewhere', ...parameters })
    const location = answer.answer?.$case === 'redirect' ? answer.answer.value.location : ''
    return new URL(location).searchParams.get('authRequest')!
  }
  const finish = (authRequestId: string, session: { sessionId: string; sessionToken: string }) =>
    createCallback
      .handle(
        users,
        { authRequestId, callbackKind: { $case: 'session', value: { ...session, consentGiven: false } } },
        call(),
      )
      .then(
        ({ callbackUrl: url }) => (new URL(url).searchParams.has('code') ? 'in' : url),
        (error: { reason: string }) => error.reason,
      )

  test('is told what is asked for, and gets no code without what is essential', async () => {
    const { own, app } = await withApp()
    const session = await openSession(users, own)
    const ofPlain = await openSession(users, await newPerson())
    const voluntary = await begin({ acrValues: `${two} ${one}` })
    const { authRequest } = await getAuthRequest(users, { authRequestId: voluntary }, call())
    expect(authRequest).toMatchObject({ acrValues: [two, one], acrIsEssential: false })
    expect(await finish(voluntary, ofPlain)).toBe('in')
    const needed = await begin(essential(two))
    const asking = await getAuthRequest(users, { authRequestId: needed }, call())
    expect(asking.authRequest).toMatchObject({ acrValues: [two], acrIsEssential: true })
    expect(await finish(needed, ofPlain)).toBe('FACTOR_REQUIRED')
    const silent = await begin({ ...essential(two), prompt: 'none' })
    expect(await finish(silent, ofPlain)).toBe('FACTOR_REQUIRED')
    // A token for Roster needs a fresh first factor, though the application does not ask for it.
    const forRoster = await begin({ scope: `openid ${itself}` })
    const told = await getAuthRequest(users, { authRequestId: forRoster }, call())
    expect(told.authRequest).toMatchObject({ maxAge: { seconds: 600 } })
    const { sessionToken } = await set(users, session, { totpCode: await app.code(1) })
    expect(await finish(needed, { ...session, sessionToken })).toBe('in')
  })
})

describe('an explanation', () => {
  const explain = async ({ userId }: { userId: string }, more: object) => {
    const application = { $case: 'clientId' as const, value: 'client' }
    const request = { ...ExplainSignInRequest.decode(new Uint8Array()), userId, application, ...more }
    const { nextSignIn } = await explainSignIn.handle(users, request, callIn('acme'))
    return nextSignIn!.asked.map(({ reason }) => reason)
  }

  test('says that the application asks for it, or that the person cannot', async () => {
    const own = await newPerson()
    const { SIGN_IN_REASON_CONTEXT: context, SIGN_IN_REASON_CONTEXT_UNMET: unmet } = SignInReason
    expect(await explain(own, { acrValues: [two] })).toEqual([context])
    expect(await explain(own, { acrValues: [phr] })).toEqual([])
    expect(await explain(own, { acrValues: [phr], acrIsEssential: true })).toEqual([unmet])
    const visitor = await arrive(own)
    const { requestId } = await visitor.begin(essential(two))
    expect(await explain(own, { requestId })).toEqual([context])
    // A second factor of their own is the person's, not the application's wish.
    const { own: other } = await withApp()
    expect(await explain(other, { acrValues: [two] })).toEqual([SignInReason.SIGN_IN_REASON_FACTOR])
  })
})
