import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import type { Event } from '#gen/roster/feed/v1/feed'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { statuses } from '../../directory/organizations/statuses.ts'
import { setPassword } from '../../directory/operations/password/set-password.ts'
import {
  noteApplication,
  nothingNewer,
  redirectUri,
  told,
  Visitor as Anyone,
} from '../../openid/authorization/testing/visitors.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { disownSession } from '../../pages/account/disown-session.ts'
import { checkCode } from '../../pages/operations/sign-in/check-code.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { addApp, type App, call, newPerson, type Person, setPolicy, signIn } from '../factors/testing/second-factors.ts'
import { searchUserSessions } from '../operations/session/search-user-sessions.ts'
import { deleteUserSessions } from '../operations/session/delete-user-sessions.ts'
import { addOTPEmail } from '../operations/factors/otp-email.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  users = await openUsers(database.urls.users)
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(users, 'client', { firstParty: true, authMethodType }, { organizationId: 'acme' })
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})
const allow = (trustedBrowserDays = 10, more = {}) => setPolicy(users, { trustedBrowserDays, ...more })
beforeEach(() => allow())
afterEach(() => shiftClock(users.sql, '0 seconds'))

class Visitor extends Anyone {
  async code({ requestId, formToken }: PageAnswer, code: string, trusts = 'on') {
    const request = { browser: this.cookie, requestId, formToken, code, action: 'check', factor: 'totp' }
    return this.follow(this.keep(await checkCode(this.users, { ...request, trust: this.trust, trusts }, this.call())))
  }

  /** Signs in with the password alone, as after the browser was closed: of the cookies only this one is kept. */
  async again({ userName }: Person, parameters = {}, trust = this.trust): Promise<PageAnswer> {
    this.cookie = ''
    this.trust = trust
    return this.signIn(await this.begin({ scope: 'openid offline_access', ...parameters }), userName)
  }
}

async function exchange(proof: object) {
  return issueToken.handle(users, { ...codec.decode(new Uint8Array()), clientId: 'client', ...proof }, callIn(''))
}
const redeem = (page: PageAnswer) =>
  exchange({ grantType: 'authorization_code', code: told(page)['code']!, codeVerifier: 'verifier', redirectUri })
const refresh = (refreshToken: string | undefined) =>
  exchange({ grantType: 'refresh_token', refreshToken }).then(
    (answer) => answer.refreshToken!,
    (error: { reason: string }) => error.reason,
  )
const outcomeOf = ({ answer }: PageAnswer) =>
  answer?.$case === 'redirect' || answer?.$case === 'leaving' ? 'in' : (answer?.$case ?? '')

/** A person with an app, and a browser that is trusted. */
async function trusted(): Promise<{ own: Person; app: App; visitor: Visitor }> {
  const own = await newPerson(users)
  const app = await addApp(users, own)
  const visitor = new Visitor(users)
  const page = await visitor.again(own)
  expect(page.answer?.value).toMatchObject({ trustDays: 10 })
  expect(outcomeOf(await visitor.code(page, await app.code(1)))).toBe('in')
  expect(visitor.trust).not.toBe('')
  return { own, app, visitor }
}

test('who says so is not asked again in this browser, for as many days, and nothing more is proved', async () => {
  const { own, visitor } = await trusted()
  const { idToken } = await redeem(await visitor.again(own))
  expect(decodeJwt(idToken!)).toMatchObject({ amr: ['pwd'], acr: 'urn:roster:acr:1' })
  await shiftClock(users.sql, '9 days')
  expect(outcomeOf(await visitor.again(own))).toBe('in')
  await shiftClock(users.sql, '10 days')
  expect(outcomeOf(await visitor.again(own))).toBe('factorCode')
})

test('no other browser, person or program is passed by it, and nobody without the password', async () => {
  const { own, visitor } = await trusted()
  const other = await newPerson(users)
  const app = await addApp(users, other)
  expect(outcomeOf(await new Visitor(users).again(own))).toBe('factorCode')
  const asked = await visitor.again(other)
  expect(outcomeOf(asked)).toBe('factorCode')
  // Two people trust one browser, each for their own.
  expect(outcomeOf(await visitor.code(asked, await app.code(1)))).toBe('in')
  for (const person of [own, other]) expect(outcomeOf(await visitor.again(person))).toBe('in')
  // What stood in the cookie before is not what is trusted: somebody may have put it there.
  const planted = 'p'.repeat(43)
  const victim = await newPerson(users)
  const victims = await addApp(users, victim)
  const browser = new Visitor(users)
  await browser.code(await browser.again(victim, {}, planted), await victims.code(1))
  expect(outcomeOf(await new Visitor(users).again(victim, {}, planted))).toBe('factorCode')
  expect(outcomeOf(await new Visitor(users).again(victim, {}, browser.trust))).toBe('in')
  // A session token opens nothing.
  expect((await signIn(users, own)).missingFactors).not.toEqual([])
})

test('an application that asks for two factors, and a change of the account, ask for the second one', async () => {
  const { own, visitor } = await trusted()
  const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:roster:acr:2' } } })
  const page = await visitor.again(own, { claims })
  // What is proved for an application does not make the browser a trusted one.
  expect([outcomeOf(page), page.answer?.value]).toMatchObject(['factorCode', { trustDays: 0 }])
  expect(outcomeOf(await visitor.again(own))).toBe('in')
  // What acts in Roster could change the account as well.
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(
    users,
    'inside',
    { firstParty: true, authMethodType, rosterApi: true },
    { organizationId: 'acme' },
  )
  expect(outcomeOf(await visitor.again(own, { clientId: 'inside' }))).toBe('factorCode')
  expect(outcomeOf(await visitor.again(own))).toBe('in')
  expect(outcomeOf(await visitor.account())).toBe('account')
  for (const section of ['password', 'email', 'authenticator', 'passkeys', 'removal'])
    expect(outcomeOf(await visitor.account({ section }))).toBe('factorCode')
})

test('a refresh token works on after the days, until the trust is ended', async () => {
  const { own, visitor } = await trusted()
  let { refreshToken } = await redeem(await visitor.again(own))
  await shiftClock(users.sql, '11 days')
  refreshToken = await refresh(refreshToken)
  expect(refreshToken).not.toBe('INVALID_GRANT')
  await allow(9)
  expect(await refresh(refreshToken)).toBe('INVALID_GRANT')
})

test.each<[string, (own: Person) => Promise<unknown>]>([
  [
    'another password',
    ({ userId, userName }) =>
      setPassword.handle(
        users,
        { userId, newPassword: { password: `${userName}-password`, changeRequired: false } },
        call(),
      ),
  ],
  ['a further factor', (own) => addOTPEmail.handle(users, own, call())],
  ['all sessions ended', ({ userId }) => deleteUserSessions.handle(users, { userId }, call())],
  ['fewer days', () => allow(9)],
  ['none', () => allow(0)],
  [
    'a policy in which the factor does not serve',
    () => allow(10, { forceMfa: true, secondFactors: { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL] } }),
  ],
])('%s: the browser is asked again', async (_, change) => {
  const { own, visitor } = await trusted()
  const { refreshToken } = await redeem(await visitor.again(own))
  await change(own)
  expect(outcomeOf(await visitor.again(own))).not.toBe('in')
  expect(await refresh(refreshToken)).toBe('INVALID_GRANT')
})

test('all sessions ended: the browser is asked again, also of a person whom no application knows', async () => {
  const { own, visitor } = await trusted()
  await deleteUserSessions.handle(users, { userId: own.userId }, call())
  expect(outcomeOf(await visitor.again(own))).toBe('factorCode')
})

test('nobody is offered it where the policy does not allow it, and an organization has fewer days at most', async () => {
  await allow(0)
  const own = await newPerson(users)
  const app = await addApp(users, own)
  const visitor = new Visitor(users)
  const page = await visitor.again(own)
  expect(page.answer?.value).toMatchObject({ trustDays: 0 })
  await visitor.code(page, await app.code(1))
  expect(visitor.trust).toBe('')
  await setPolicy(users, { trustedBrowserDays: 30 }, 'acme')
  expect((await visitor.again(own)).answer?.value).toMatchObject({ trustDays: 0 })
  await allow(10)
  expect((await visitor.again(own)).answer?.value).toMatchObject({ trustDays: 10 })
  await setPolicy(users, { trustedBrowserDays: 3 }, 'acme')
  expect((await visitor.again(own)).answer?.value).toMatchObject({ trustDays: 3 })
  await setPolicy(users, {}, 'acme')
})

test.each(['the end of a session', 'that it was somebody else'])(
  '%s, on the page of the account, ends it, too',
  async (what) => {
    const { own, visitor } = await trusted()
    const { trust } = visitor
    await visitor.again(own)
    const elsewhere = new Visitor(users)
    expect(outcomeOf(await elsewhere.again(own, {}, trust))).toBe('in')
    const page = await elsewhere.account({ section: 'activity' })
    const sessions = page.answer?.$case === 'account' ? page.answer.value.sessions!.sessions : []
    expect(sessions.map(({ trustedUntil }) => trustedUntil !== undefined)).toEqual(sessions.map(() => true))
    const { id: sessionId } = sessions.find(({ isCurrent }) => !isCurrent)!
    if (what === 'the end of a session') await elsewhere.endSession(page, sessionId)
    else {
      const { formToken, uiLocales } = page
      await disownSession(
        users,
        { browser: elsewhere.cookie, userId: own.userId, formToken, uiLocales, sessionId },
        call(),
      )
    }
    expect(outcomeOf(await visitor.again(own, {}, trust))).toBe('factorCode')
  },
)

test('one without a living session is listed where sessions are, and the person ends it there', async () => {
  const { own, app, visitor } = await trusted()
  const { trust } = visitor
  const listed = async () => {
    const request = { userId: own.userId, limit: 0, cursor: '', withTotal: false }
    const { trustedBrowsers } = await searchUserSessions(users, request, call())
    return trustedBrowsers.map(({ trustedUntil }) => trustedUntil!.getTime() > Date.now())
  }
  // Its session says it.
  expect(await listed()).toEqual([])
  await visitor.leave(await visitor.account({ section: 'activity' }), 'here')
  expect(await listed()).toEqual([true])
  const elsewhere = new Visitor(users)
  await shiftClock(users.sql, '60 seconds')
  await elsewhere.code(await elsewhere.again(own), await app.code(), '')
  const activity = await elsewhere.account({ section: 'activity' })
  const { trustedBrowsers } =
    activity.answer?.$case === 'account' ? activity.answer.value.sessions! : { trustedBrowsers: [] }
  expect(trustedBrowsers).toMatchObject([{ sessionId: expect.any(String), trustedDate: expect.any(Date) }])
  await elsewhere.endSession(activity, trustedBrowsers[0]!.sessionId)
  expect(await listed()).toEqual([])
  expect(outcomeOf(await visitor.again(own, {}, trust))).toBe('factorCode')
})

test('a deactivation of the organization ends it, also once that is active again', async () => {
  const { own, visitor } = await trusted()
  const { trust } = visitor
  for (const [index, type] of ['deactivated', 'reactivated'].entries()) {
    const event = {
      id: `grants-${index}`,
      type: `roster.organization.${type}.v1`,
      aggregateId: 'acme',
      sequence: index + 1,
    }
    await statuses.record(users.store, { ...event, organizationId: 'acme', actor: '', requestId: '' } as Event)
  }
  expect(outcomeOf(await visitor.again(own, {}, trust))).toBe('factorCode')
})
