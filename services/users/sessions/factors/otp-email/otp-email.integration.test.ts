import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { NoticeReason } from '#gen/roster/users/v1/sign_in_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import type { NewCode } from '../../../directory/events/code.ts'
import { deriveCode } from '../../../directory/email/code.ts'
import { addOTPEmail, removeOTPEmail } from '../../operations/factors/otp-email.ts'
import { setEmail } from '../../../directory/operations/user/set-email.ts'
import { setPassword } from '../../../directory/operations/password/set-password.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { hashToken } from '../../../directory/tokens/token.ts'
import { authenticate } from '../../../internal/authenticate.ts'
import { issueToken } from '../../../openid/operations/issue-token.ts'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  redirectUri,
  said,
  told,
  Visitor as Anyone,
} from '../../../openid/authorization/testing/visitors.ts'
import { checkCode } from '../../../pages/operations/sign-in/check-code.ts'
import { passwordReset } from '../../../pages/recovery/password-reset.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../../testing/test-users.ts'
import { createSession } from '../../operations/session/create-session.ts'
import { getSession } from '../../operations/session/get-session.ts'
import { listAuthenticationMethodTypes } from '../../operations/factors/list-authentication-method-types.ts'
import { setSession } from '../../operations/session/set-session.ts'
import { resetLoginPolicy, updateLoginPolicy } from '../../operations/settings/update-login-policy.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
let people = 0

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
beforeEach(() => demand(false))

const { AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: byMail, AUTHENTICATION_METHOD_TYPE_PASSWORD: byPassword } =
  AuthenticationMethodType

// Each at an address of its own, so that no rate limit of addresses is met.
const call = (): Call => ({ ...callIn('acme'), clientAddress: `2001:db8:${(people++).toString(16)}::` })
const demand = (forceMfa: boolean, organizationId: string = instance.id) =>
  updateLoginPolicy.handle(users, { settings: { forceMfa } }, { ...call(), organizationId })

async function newPerson() {
  const userName = `person-${people++}`
  return { userName, email: `${userName}@example.com`, userId: await addPerson(users, userName) }
}
type Person = Awaited<ReturnType<typeof newPerson>>
type Session = { sessionId: string; sessionToken: string }

const signIn = ({ userName }: Person, password = `${userName}-password`) =>
  signInBy(users, { loginName: userName, password }, call())
const set = (
  { sessionId, sessionToken }: Session,
  given: { password?: string; otpEmailCode?: string; otpEmail?: object; lifetime?: { seconds: number; nanos: number } },
) =>
  setSession.handle(
    users,
    { sessionId, sessionToken, password: '', otpEmailCode: '', lifetime: undefined, ...given },
    call(),
  )
const challenge = async (session: Session) =>
  (await set(session, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })).challenges!.otpEmail!
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: { reason: string }) => error.reason,
  )
const holder = ({ sessionToken }: Pick<Session, 'sessionToken'>) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))
const wrong = 'ZZZZZZ'

const renewed = (userId: string) => ({ userId, newPassword: { password: 'renewed password', changeRequired: false } })

/** The proof by a code that was mailed for a forgotten password. */
async function mailedReset({ userId, email }: Person) {
  await passwordReset.handle(users, { userId, medium: { $case: 'sendLink', value: {} } } as never, call())
  const code = await users.store.load<NewCode>('user.password.code', userId)
  const value = deriveCode(users.keys, code!.state, userId, email, 'password-code')
  return { verification: { $case: 'verificationCode', value } }
}

/** The code that was mailed to a person last. */
async function mailed({ userId, email }: Person): Promise<string> {
  const [row] = await users.sql<{ id: string }[]>`
    select mail_id as id from unsent_mails where user_id = ${userId} and kind = 'otp-email' order by requested_at desc limit 1
  `
  const code = await findCode(users, 'otp-email', { codeId: row!.id })
  return deriveCode(users.keys, code!.code, userId, email, 'otp-email')
}

describe('a session by the API', () => {
  test('is partial after the password where a second factor is demanded, and its token opens nothing until the code is right', async () => {
    await demand(true)
    const person = await newPerson()
    const begun = await signIn(person)
    expect(begun.missingFactors).toEqual([byMail])
    expect(await holder(begun)).toBe('TOKEN_INVALID')
    const code = await challenge(begun)
    expect(await reasonOf(set(begun, { otpEmailCode: wrong }))).toBe('CODE_INVALID')
    const whole = await set(begun, { otpEmailCode: ` ${code.toLowerCase().slice(0, 3)}-${code.slice(3)}` })
    expect(whole).toMatchObject({ missingFactors: [] })
    expect(await holder(whole)).toBe('in')
    expect([await holder(begun), await reasonOf(set(begun, { otpEmailCode: code }))]).toEqual([
      'TOKEN_INVALID',
      'SESSION_NOT_FOUND',
    ])
    const { session } = await getSession(users, { sessionId: begun.sessionId })
    expect(session!.factors).toMatchObject({
      password: { verifiedAt: expect.any(Date) },
      otpEmail: { verifiedAt: expect.any(Date) },
    })
    // A second factor is no further check of the first one.
    expect(session!.expirationDate).toEqual(begun.expirationDate)
    const next = { sessionId: begun.sessionId, sessionToken: whole.sessionToken }
    expect(await reasonOf(set(next, { otpEmailCode: code }))).toBe('CODE_INVALID')
  })

  test('is asked for a second factor that the user has, whatever the policy, and no other is', async () => {
    const [own, other] = [await newPerson(), await newPerson()]
    const before = await signIn(own)
    expect(await holder(before)).toBe('in')
    await addOTPEmail.handle(users, own, call())
    expect(await reasonOf(addOTPEmail.handle(users, own, call()))).toBe('FACTOR_EXISTS')
    const methodsOf = async (person: Person) =>
      (await listAuthenticationMethodTypes(users, person, call())).authMethodTypes
    const methods = () => methodsOf(own)
    expect(await methods()).toEqual([byPassword, byMail])
    expect(await holder(before)).toBe('TOKEN_INVALID')
    expect((await signIn(own)).missingFactors).toEqual([byMail])
    expect((await signIn(other)).missingFactors).toEqual([])
    expect(await methodsOf(other)).toEqual([byPassword])
    await demand(true)
    expect(await methodsOf(other)).toEqual([byPassword, byMail])
    await demand(false)
    await removeOTPEmail.handle(users, own, call())
    expect(await reasonOf(removeOTPEmail.handle(users, own, call()))).toBe('FACTOR_NOT_FOUND')
    expect(await methods()).toEqual([byPassword])
    expect(await holder(before)).toBe('in')
  })

  test('lacks what the instance demands, whatever its organization sets; and what its organization demands', async () => {
    const person = await newPerson()
    const session = await signIn(person)
    await demand(true)
    await demand(false, 'acme')
    expect(await holder(session)).toBe('TOKEN_INVALID')
    await demand(false)
    expect(await holder(session)).toBe('in')
    await demand(true, 'acme')
    expect(await holder(session)).toBe('TOKEN_INVALID')
    await resetLoginPolicy(users, {}, { ...call(), organizationId: 'acme' })
    expect(await holder(session)).toBe('in')
  })

  test('takes one of password, code and challenge; beside a code, a lifetime only brings its end nearer', async () => {
    const session = await signIn(await newPerson())
    const faults = (given: object) =>
      setSession.check(users, { ...session, password: '', otpEmailCode: '', ...given }).map(({ field }) => field)
    expect(faults({})).toEqual(['password'])
    expect(faults({ password: 'x', otpEmailCode: wrong })).toEqual(['otpEmailCode'])
    const linked = (urlTemplate: string) => ({ otpEmail: { delivery: { $case: 'sendCode', value: { urlTemplate } } } })
    expect(faults(linked('https://login.example.com/{{.SessionID}}?code={{.Code}}'))).toEqual([])
    expect(faults(linked('https://{{.SessionID}}.example.com/'))).toEqual(['otpEmail.sendCode.urlTemplate'])
    const ending = async (seconds: number) => {
      const begun = await signIn(await newPerson())
      const whole = await set(begun, { otpEmailCode: await challenge(begun), lifetime: { seconds, nanos: 0 } })
      return begun.expirationDate!.getTime() - whole.expirationDate!.getTime()
    }
    expect(await ending(86_400)).toBe(0)
    expect(await ending(60)).toBeGreaterThan(3_600_000)
  })

  test('gets no code before its password, and none where the mailbox proves nothing', async () => {
    await demand(true)
    const person = await newPerson()
    const begun = await createSession.handle(
      users,
      { userId: person.userId, loginName: '', password: '', lifetime: undefined },
      call(),
    )
    expect(begun.missingFactors).toEqual([byPassword])
    expect(await reasonOf(challenge(begun))).toBe('FACTOR_NOT_AVAILABLE')
    expect(await reasonOf(set(begun, { otpEmailCode: wrong }))).toBe('FACTOR_NOT_AVAILABLE')
    const session = await signIn(person)
    const code = await challenge(session)
    const { userId } = person
    const email = { userId, email: `new-${person.email}`, verification: { $case: 'returnCode', value: {} } }
    await setEmail.handle(users, email as never, call())
    expect(await reasonOf(set(session, { otpEmailCode: code }))).toBe('FACTOR_NOT_AVAILABLE')
    expect(await reasonOf(challenge(session))).toBe('FACTOR_NOT_AVAILABLE')
  })

  test('gets none by a password that was set by a mailed code: the mailbox alone would prove both', async () => {
    await demand(true)
    const person = await newPerson()
    const { userId } = person
    await setPassword.handle(users, { ...(await mailedReset(person)), ...renewed(userId) } as never, call())
    const session = await signIn(person, 'renewed password')
    expect(await reasonOf(challenge(session))).toBe('FACTOR_NOT_AVAILABLE')
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), person.userName, 'renewed password')
    expect(codePage(page)).toMatchObject({ error: 'password by mail', isSent: false })
    // An administrator sets one.
    await setPassword.handle(
      users,
      { ...renewed(userId), newPassword: { password: 'another password', changeRequired: false } },
      call(),
    )
    const again = await signIn(person, 'another password')
    const whole = await set(again, { otpEmailCode: await challenge(again) })
    expect(await holder(whole)).toBe('in')
  })

  test('gets one by a first password that was set by a mailed code, as by one of a registration', async () => {
    await demand(true)
    const person = await newPerson()
    const { userId } = person
    await users.sql`delete from passwords where user_id = ${userId}`
    await setPassword.handle(users, { ...(await mailedReset(person)), ...renewed(userId) } as never, call())
    const session = await signIn(person, 'renewed password')
    expect(await holder(await set(session, { otpEmailCode: await challenge(session) }))).toBe('in')
  })

  test('goes on with the last code alone, for ten minutes, once of two at a time', async () => {
    await demand(true)
    const person = await newPerson()
    const session = await signIn(person)
    const [first, second] = [await challenge(session), await challenge(session)]
    expect(await reasonOf(set(session, { otpEmailCode: first }))).toBe('CODE_INVALID')
    const other = await signIn(person)
    expect(await reasonOf(set(other, { otpEmailCode: second }))).toBe('CODE_INVALID')
    const tries = await Promise.all([1, 2].map(() => reasonOf(set(session, { otpEmailCode: second }))))
    expect(tries.filter((reason) => reason === 'in')).toHaveLength(1)
    const late = await newPerson()
    const slow = await signIn(late)
    const code = await challenge(slow)
    try {
      await shiftClock(users.sql, '11 minutes')
      expect(await reasonOf(set(slow, { otpEmailCode: code }))).toBe('CODE_INVALID')
    } finally {
      await shiftClock(users.sql, '0 seconds')
    }
  })
})

test('partial sessions make no place for themselves among whole ones, and a user has twenty of them', async () => {
  const person = await newPerson()
  const whole = await signIn(person)
  await demand(true)
  const session = await set(whole, { otpEmailCode: await challenge(whole) })
  for (let n = 0; n < 105; n++) await signIn(person)
  expect(await holder(session)).toBe('in')
  const [tokens] = await users.sql<[{ partial: number; whole: number }]>`
    select count(*) filter (where partial)::int as partial, count(*) filter (where partial is null)::int as whole
    from tokens where user_id = ${person.userId}
  `
  expect(tokens).toEqual({ partial: 20, whole: 1 })
  const next = await signIn(person)
  await set(next, { otpEmailCode: await challenge(next) })
  expect(await holder(session)).toBe('in')
})

describe('guesses', () => {
  test('count as one person over sessions, codes and the page: five within ten minutes, twenty a day', async () => {
    await demand(true)
    const person = await newPerson()
    const sessions = await Promise.all([signIn(person), signIn(person), signIn(person)])
    await Promise.all(sessions.map(challenge))
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), person.userName)
    const guess = (n: number) =>
      n % 4 === 3
        ? visitor
            .code(page, wrong)
            .then((shown) => (shown.answer?.$case === 'code' ? codeErrors[shown.answer.value.error]! : 'in'))
        : reasonOf(set(sessions[n % 4]!, { otpEmailCode: wrong }))
    const outcomes: string[] = []
    for (let n = 0; n < 6; n++) outcomes.push(await guess(n))
    outcomes.push(...(await Promise.all(Array.from({ length: 200 }, (_, n) => guess(n)))))
    const counted = outcomes.filter((outcome) => ['CODE_INVALID', 'wrong', 'over'].includes(outcome))
    expect(counted).toHaveLength(5)
    expect(new Set(outcomes.slice(5))).toEqual(new Set(['FACTOR_THROTTLED', 'throttled']))
    // The right one is refused, too, so that a guess says nothing.
    const fresh = await signIn(person)
    const code = await challenge(fresh)
    expect(await reasonOf(set(fresh, { otpEmailCode: code }))).toBe('FACTOR_THROTTLED')
    const [rejected] = await users.sql<[{ count: number }]>`
      select count(*)::int as count from events
      where aggregate_type = 'session' and type = 'factor.rejected' and payload ->> 'userId' = ${person.userId}
    `
    expect(rejected.count).toBe(5)
    try {
      for (const [minutes, most] of [
        [11, 5],
        [22, 5],
        [33, 5],
        [44, 0],
      ] as const) {
        await shiftClock(users.sql, `${minutes} minutes`)
        const later = await signIn(person)
        await challenge(later)
        const tried: string[] = []
        for (let n = 0; n < 6; n++) tried.push(await reasonOf(set(later, { otpEmailCode: wrong })))
        expect([minutes, tried.filter((reason) => reason === 'CODE_INVALID').length]).toEqual([minutes, most])
      }
    } finally {
      await shiftClock(users.sql, '0 seconds')
    }
    // Others are not held up.
    const other = await newPerson()
    const own = await signIn(other)
    expect(await holder(await set(own, { otpEmailCode: await challenge(own) }))).toBe('in')
  })
})

test('mails of codes are limited for an address within the organization, by pages and the API together', async () => {
  await demand(true)
  const person = await newPerson()
  const session = await signIn(person)
  const send = () => reasonOf(set(session, { otpEmail: { delivery: { $case: 'sendCode', value: {} } } }))
  expect([await send(), await send(), await send()]).toEqual(['in', 'in', 'in'])
  const visitor = new Visitor(users)
  const page = await visitor.signIn(await visitor.begin(), person.userName)
  expect(codePage(page)).toMatchObject({ error: 'none', isSent: true })
  expect(codePage(await visitor.code(page, '', 'send'))).toMatchObject({ error: 'none' })
  expect(codePage(await visitor.code(page, '', 'send'))).toMatchObject({ error: 'mails throttled', isSent: true })
  expect(await send()).toBe('MAILS_THROTTLED')
  // Mails of another kind are counted apart, and the last code still counts.
  expect(told(await visitor.code(page, await mailed(person)))['code']).toBeDefined()
})

describe('a sign-in by pages', () => {
  test('asks for the code after the password, says what was wrong, and tells the application of both factors', async () => {
    await demand(true)
    const person = await newPerson()
    const visitor = new Visitor(users)
    const asking = await visitor.signIn(await visitor.begin({ scope: 'openid' }), person.userName)
    expect(codePage(asking)).toEqual({
      error: 'none',
      email: 'p•••@e•••.com',
      isSent: true,
      loginName: person.userName,
    })
    expect(codePage(await visitor.code(asking, wrong))).toMatchObject({ error: 'wrong', isSent: true })
    // Whoever has the cookie alone comes no further, and neither does a request without a page.
    expect(told(await visitor.silently())['error']).toBe('login_required')
    const answer = await visitor.code(asking, await mailed(person))
    const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client' }
    const proof = { code: told(answer)['code']!, codeVerifier: 'verifier', redirectUri }
    const { idToken } = await issueToken.handle(users, { ...request, ...proof }, callIn(''))
    expect(decodeJwt(idToken!)).toMatchObject({ sub: person.userId, amr: ['pwd', 'otp', 'mfa'] })
    // The session has both, so the next request asks for nothing.
    expect(told(await visitor.silently())['code']).toBeDefined()
  })

  test('of somebody who is signed in already asks for the code alone, and mails one when it is asked for', async () => {
    const person = await newPerson()
    const visitor = new Visitor(users)
    expect(told(await visitor.signIn(await visitor.begin(), person.userName))['code']).toBeDefined()
    await demand(true)
    const page = await visitor.begin()
    expect(codePage(page)).toMatchObject({ error: 'none', isSent: false })
    expect(await users.sql`select from unsent_mails where user_id = ${person.userId}`).toHaveLength(0)
    const sent = await visitor.code(page, '', 'send')
    expect(codePage(sent)).toMatchObject({ error: 'none', isSent: true })
    const former = await mailed(person)
    const again = await visitor.code(sent, '', 'send')
    expect(codePage(await visitor.code(again, former))).toMatchObject({ error: 'wrong' })
    expect(told(await visitor.code(again, await mailed(person)))['code']).toBeDefined()
  })

  test('is not given by the password again to who has the value of the cookie before the code', async () => {
    await demand(true)
    const person = await newPerson()
    const password = `${person.userName}-password`
    const visitor = new Visitor(users)
    const planted = new Visitor(users)
    const page = await visitor.begin()
    const [thiefs, second] = [await visitor.begin(), await visitor.begin()]
    planted.cookie = visitor.cookie
    const asking = await visitor.signIn(page, person.userName)
    // With the password, too, who planted the cookie gets what the password opens.
    expect(codePage(await planted.signIn(thiefs, person.userName, password))).toMatchObject({ isSent: true })
    expect(planted.cookie).toBe(visitor.cookie)
    expect(told(await visitor.code(asking, await mailed(person)))['code']).toBeDefined()
    expect(planted.cookie).not.toBe(visitor.cookie)
    expect(codePage(await planted.signIn(second, person.userName, password))).toMatchObject({ isSent: true })
    expect(planted.cookie).not.toBe(visitor.cookie)
  })

  test('asks for the code in a browser of its own who comes with the value of before a further password', async () => {
    await demand(true)
    const person = await newPerson()
    const [visitor, thief] = [new Visitor(users), new Visitor(users)]
    const asking = await visitor.signIn(await visitor.begin(), person.userName)
    expect(told(await visitor.code(asking, await mailed(person)))['code']).toBeDefined()
    thief.cookie = visitor.cookie
    const [thiefs, own] = [await thief.begin({ prompt: 'login' }), await visitor.begin({ prompt: 'login' })]
    const password = `${person.userName}-password`
    expect(told(await visitor.signIn(own, person.userName, password))['code']).toBeDefined()
    expect(codePage(await thief.signIn(thiefs, person.userName, password))).toMatchObject({ isSent: true })
    expect(thief.cookie).not.toBe(visitor.cookie)
    // The person's own session has both factors still.
    expect(told(await visitor.silently())['code']).toBeDefined()
    expect(told(await thief.silently())['error']).toBe('login_required')
  })

  test('is bound to its browser: the code of one is wrong in another', async () => {
    await demand(true)
    const person = await newPerson()
    const [one, other] = [new Visitor(users), new Visitor(users)]
    const asked = await one.signIn(await one.begin(), person.userName)
    const code = await mailed(person)
    const elsewhere = await other.signIn(await other.begin(), person.userName)
    expect(codePage(await other.code(elsewhere, code))).toMatchObject({ error: 'wrong' })
    expect(told(await one.code(asked, code))['code']).toBeDefined()
  })

  test('says so where a mailed code proves nothing, and leads to another account and back to the application', async () => {
    const secondFactors = { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL] }
    await updateLoginPolicy.handle(
      users,
      { settings: { forceMfa: true, secondFactors } },
      { ...call(), organizationId: instance.id },
    )
    const person = await newPerson()
    const { userId, email } = person
    await setEmail.handle(
      users,
      { userId, email: `new-${email}`, verification: { $case: 'returnCode', value: {} } } as never,
      call(),
    )
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), person.userName)
    expect(codePage(page)).toMatchObject({ error: 'not verified', isSent: false })
    expect(said(await visitor.code(page, '', 'another-account'))).toBe('sign-in 0')
    expect(said(await visitor.code(page, '', 'cancel'))).toBe(`notice ${NoticeReason.NOTICE_REASON_CANCELLED}`)
  })
})

const codeErrors = ['none', 'wrong', 'over', 'throttled', 'mails throttled', 'not verified', 'password by mail']

function codePage(page: Awaited<ReturnType<Visitor['begin']>>) {
  if (page.answer?.$case !== 'code') return { error: said(page) }
  const { error, email, isSent, loginName } = page.answer.value
  return { error: codeErrors[error]!, email, isSent, loginName }
}

class Visitor extends Anyone {
  /** Sends a code, and returns the page after it. */
  async code({ requestId, formToken }: { requestId: string; formToken: string }, code: string, action = 'check') {
    const request = { browser: this.cookie, requestId, formToken, code, action, factor: '', trust: '', trusts: '' }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }
}
