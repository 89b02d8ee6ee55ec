import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../../directory/email/code.ts'
import { lockUser } from '../../../directory/operations/user/lock-user.ts'
import { setEmail } from '../../../directory/operations/user/set-email.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { hashToken } from '../../../directory/tokens/token.ts'
import { authenticate } from '../../../internal/authenticate.ts'
import {
  noteApplication,
  nothingNewer,
  redirectUri,
  said,
  told,
} from '../../../openid/authorization/testing/visitors.ts'
import { Visitor as Anyone } from '../../../openid/authorization/testing/visitors.ts'
import { issueToken } from '../../../openid/operations/issue-token.ts'
import { changeMyPassword } from '../../../pages/account/change-my-password.ts'
import { changeMyRecoveryCodes } from '../../../pages/account/change-my-recovery-codes.ts'
import { changeMyTOTP } from '../../../pages/account/change-my-totp.ts'
import { mailCode as forgot } from '../../../pages/recovery/request-password-reset.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../../testing/test-users.ts'
import { createSession } from '../../operations/session/create-session.ts'
import { generateRecoveryCodes } from '../../operations/factors/generate-recovery-codes.ts'
import { getLoginPolicy } from '../../operations/settings/get-login-policy.ts'
import { getLoginSettings } from '../../operations/settings/get-login-settings.ts'
import { getSession } from '../../operations/session/get-session.ts'
import { listAuthenticationMethodTypes } from '../../operations/factors/list-authentication-method-types.ts'
import { addOTPEmail } from '../../operations/factors/otp-email.ts'
import { registerTOTP } from '../../operations/factors/register-totp.ts'
import { setSession } from '../../operations/session/set-session.ts'
import { updateLoginPolicy } from '../../operations/settings/update-login-policy.ts'
import { recordFactor } from '../../record-factor.ts'
import { factors } from '../registry.ts'
import {
  addApp,
  by,
  call,
  newPerson as newHolder,
  type Person,
  reasonOf,
  set,
  setPolicy,
  signIn,
} from '../testing/second-factors.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
const roles: Record<string, string[]> = {}

beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({}, roles, { copied: nothingNewer(['client']) })
  users = await openUsers(database.urls.users)
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(users, 'client', { firstParty: true, authMethodType }, { organizationId: 'acme' })
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})
const byMail = { allowMailedCodes: true, allowUsernamePassword: false }
beforeEach(() => setPolicy(users, byMail))
afterEach(() => shiftClock(users.sql, '0 seconds'))

const { AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: mailed, AUTHENTICATION_METHOD_TYPE_PASSWORD: password } =
  AuthenticationMethodType
const wrong = 'ZZZZZZ'
const newPerson = () => newHolder(users, 'mailed')

class Visitor extends Anyone {
  async ask(page: PageAnswer, loginName: string): Promise<PageAnswer> {
    const next = await this.follow(await this.post(page, { loginName, action: 'mail-code' }))
    await users.afterResponse.stop()
    return next
  }

  async enter(page: PageAnswer, code: string): Promise<PageAnswer> {
    return this.follow(await this.post(page, { code, action: 'check-code' }))
  }

  async act(page: PageAnswer, action: string): Promise<PageAnswer> {
    return this.follow(await this.post(page, { action }))
  }
}

/** The code that was mailed to a person last; undefined: none waits. */
async function mailedTo({ userId, email }: Pick<Person, 'userId' | 'email'>): Promise<string | undefined> {
  const [row] = await users.sql<{ id: string }[]>`
    select mail_id as id from unsent_mails
    where user_id = ${userId} and kind = 'sign-in-code' order by requested_at desc limit 1
  `
  const code = row && (await findCode(users, 'sign-in-code', { codeId: row.id }))
  return code && deriveCode(users.keys, code.code, userId, email, 'sign-in-code')
}

/** Without what is the request's own. */
const shown = (page: PageAnswer) => ({ ...page, requestId: '', formToken: '' })
const errorOf = ({ answer }: PageAnswer) => (answer?.$case === 'mailedCode' ? answer.value.error : answer?.$case)

async function signedIn(person: Person, visitor = new Visitor(users)): Promise<{ visitor: Visitor; page: PageAnswer }> {
  const asked = await visitor.ask(await visitor.begin({ scope: 'openid' }), person.userName)
  return { visitor, page: await visitor.enter(asked, (await mailedTo(person))!) }
}

const halfDone = ({ userId }: Person) =>
  createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
const administrator = () => ({
  ...call(),
  caller: { ...callIn('acme').caller, instanceRoles: ['IAM_OWNER'] },
})
const returned = async (session: { sessionId: string; sessionToken: string }, as = administrator()) =>
  (
    await setSession.handle(
      users,
      {
        sessionId: session.sessionId,
        sessionToken: session.sessionToken,
        password: '',
        otpEmailCode: '',
        lifetime: undefined,
        otpEmail: { delivery: { $case: 'returnCode', value: {} } },
      },
      as,
    )
  ).challenges!.otpEmail!
const holder = ({ sessionToken }: { sessionToken: string }) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))

describe('the login policy', () => {
  test('has mailed codes in place of passwords, never beside them, and says which field is wrong', async () => {
    const faults = (settings: object) =>
      updateLoginPolicy.check(users, { settings }, callIn('org')).map(({ field }) => field)
    expect(faults({ allowMailedCodes: true })).toEqual(['settings.allowMailedCodes'])
    expect(faults({ allowMailedCodes: true, allowUsernamePassword: true })).toEqual(['settings.allowMailedCodes'])
    expect(faults({ allowUsernamePassword: false })).toEqual(['settings.allowUsernamePassword'])
    expect([faults(byMail), faults({ allowUsernamePassword: true }), faults({})]).toEqual([[], [], []])
    const { policy, settings } = await getLoginPolicy(users, {}, { ...call(), organizationId: 'acme' })
    expect(policy).toMatchObject(byMail)
    expect(settings!.allowMailedCodes).toBeUndefined()
    const ofLogin = await getLoginSettings.handle(users, { instance: false }, call())
    expect(ofLogin.settings).toMatchObject(byMail)
  })

  test('of the instance holds in each organization; where it says nothing, each decides', async () => {
    const holds = async (organizationId: string) =>
      (await getLoginPolicy(users, {}, { ...call(), organizationId })).policy!.allowMailedCodes
    const own = async (settings: object) => {
      await setPolicy(users, settings, 'own')
      return holds('own')
    }
    expect([await own({}), await own({ allowMailedCodes: false })]).toEqual([true, true])
    await setPolicy(users, { allowMailedCodes: false })
    expect([await own({}), await own(byMail)]).toEqual([false, false])
    await setPolicy(users, {})
    expect([await own({}), await own(byMail), await holds('other')]).toEqual([false, true, false])
    const { settings } = await getLoginPolicy(users, {}, { ...call(), organizationId: 'own' })
    expect(settings).toMatchObject(byMail)
  })
})

describe('a sign-in by pages', () => {
  test('asks for a name, then for the code, and is one factor for the application', async () => {
    const person = await newPerson()
    const visitor = new Visitor(users)
    const first = await visitor.begin({ scope: 'openid' })
    expect(first.answer).toMatchObject({ value: { mailsCode: true, hidesPasswordReset: true } })
    const asked = await visitor.ask(first, person.userName)
    expect(asked.answer).toMatchObject({ $case: 'mailedCode', value: { loginName: person.userName } })
    const code = (await mailedTo(person))!
    expect(errorOf(await visitor.enter(asked, wrong))).toBe(CodeError.CODE_ERROR_WRONG)
    const cookie = visitor.cookie
    const answer = await visitor.enter(asked, ` ${code.toLowerCase().slice(0, 3)}-${code.slice(3)}`)
    // Whoever saw the cookie before has no session.
    expect(visitor.cookie).not.toBe(cookie)
    const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client' }
    const proof = { code: told(answer)['code']!, codeVerifier: 'verifier', redirectUri }
    const { idToken } = await issueToken.handle(users, { ...request, ...proof }, callIn(''))
    const claims = decodeJwt(idToken!)
    expect(claims).toMatchObject({ sub: person.userId, amr: ['otp'], acr: 'urn:roster:acr:1' })
    expect(claims['auth_time']).toBeGreaterThan(0)
    expect(told(await visitor.silently())['code']).toBeDefined()
  })

  test('shows the same, whoever has the name: a person, nobody, one without a verified address, or with too many mails', async () => {
    const [person, often, unverified] = await Promise.all([newPerson(), newPerson(), newPerson()])
    const { userId } = unverified
    const email = { userId, email: `new-${unverified.email}`, verification: { $case: 'returnCode', value: {} } }
    await setEmail.handle(users, email as never, administrator())
    for (let n = 0; n < 5; n++) {
      const visitor = new Visitor(users)
      await visitor.ask(await visitor.begin(), often.userName)
    }
    const pagesOf = async (loginName: string) => {
      const visitor = new Visitor(users)
      const page = await visitor.begin()
      // Two tries come before anybody is looked up.
      const { run } = users.afterResponse
      const held: (() => void)[] = []
      users.afterResponse.run = (lane, work) => void held.push(() => run(lane, work))
      const asked = await visitor.follow(await visitor.post(page, { loginName, action: 'mail-code' }))
      const pages = [asked, await visitor.enter(asked, wrong), await visitor.enter(asked, wrong)]
      users.afterResponse.run = run
      for (const release of held) release()
      await users.afterResponse.stop()
      for (let n = 0; n < 4; n++) pages.push(await visitor.enter(asked, wrong))
      return JSON.parse(JSON.stringify(pages.map(shown)).replaceAll(loginName, 'NAME'))
    }
    const ofPerson = await pagesOf(person.userName)
    const errors = ofPerson.map(({ answer }: PageAnswer) => errorOf({ answer } as PageAnswer))
    const { CODE_ERROR_UNSPECIFIED: none, CODE_ERROR_WRONG: isWrong, CODE_ERROR_OVER: isOver } = CodeError
    expect(errors).toEqual([none, isWrong, isWrong, isWrong, isWrong, isOver, isOver])
    expect(await pagesOf('nobody-at-all')).toEqual(ofPerson)
    expect(await pagesOf(often.userName)).toEqual(ofPerson)
    expect(await pagesOf(unverified.userName)).toEqual(ofPerson)
    // Its tries would be over by now, so the mail is looked for.
    expect(await users.sql`select from unsent_mails where user_id = ${userId} and kind = 'sign-in-code'`).toEqual([])
  })

  test('takes the code in its own request and browser alone, the last one alone, once, for ten minutes', async () => {
    const person = await newPerson()
    const visitor = new Visitor(users)
    const [asked, otherRequest] = [await visitor.ask(await visitor.begin(), person.userName), await visitor.begin()]
    const first = (await mailedTo(person))!
    const stranger = new Visitor(users)
    const theirs = await stranger.ask(await stranger.begin(), person.userName)
    const ofStranger = (await mailedTo(person))!
    // A code that a stranger asks for neither ends that of the person, nor is any use to the one who did not ask.
    expect(errorOf(await stranger.enter(theirs, first))).toBe(CodeError.CODE_ERROR_WRONG)
    expect(errorOf(await visitor.enter(asked, ofStranger))).toBe(CodeError.CODE_ERROR_WRONG)
    expect(said(await visitor.enter(otherRequest, first))).toContain('sign-in')
    stranger.cookie = 'another'
    expect(said(await stranger.enter(asked, first))).toContain('notice')
    const again = await visitor.ask(asked, person.userName)
    const second = (await mailedTo(person))!
    expect(errorOf(await visitor.enter(again, first))).toBe(CodeError.CODE_ERROR_WRONG)
    await shiftClock(users.sql, '11 minutes')
    expect(errorOf(await visitor.enter(again, second))).toBe(CodeError.CODE_ERROR_OVER)
    await shiftClock(users.sql, '0 seconds')
    const both = await Promise.all([
      visitor.post(again, { code: second, action: 'check-code' }),
      visitor.post(again, { code: second, action: 'check-code' }),
    ])
    expect(both.filter(({ newBrowser }) => newBrowser !== '')).toHaveLength(1)
  })

  test('ends with nobody by a code that the policy, the address or the person outlived', async () => {
    const [ofPolicy, moved, locked] = [await newPerson(), await newPerson(), await newPerson()]
    const asks = async (person: Person) => {
      const visitor = new Visitor(users)
      return {
        visitor,
        page: await visitor.ask(await visitor.begin(), person.userName),
        code: (await mailedTo(person))!,
      }
    }
    const [a, b, c] = [await asks(ofPolicy), await asks(moved), await asks(locked)]
    await setPolicy(users, {})
    const { cookie } = a.visitor
    expect(said(await a.visitor.enter(a.page, a.code))).toContain('sign-in')
    // No session began with it, which a password would complete.
    expect(a.visitor.cookie).toBe(cookie)
    await setPolicy(users, byMail)
    const email = {
      userId: moved.userId,
      email: `new-${moved.email}`,
      verification: { $case: 'isVerified', value: true },
    }
    await setEmail.handle(users, email as never, administrator())
    expect(errorOf(await b.visitor.enter(b.page, b.code))).toBe(CodeError.CODE_ERROR_WRONG)
    await lockUser(users, { userId: locked.userId }, administrator())
    expect(errorOf(await c.visitor.enter(c.page, c.code))).toBe(CodeError.CODE_ERROR_WRONG)
  })

  test('asks for no second code by mail, and lets nobody add a factor by the mailbox: the page says who helps', async () => {
    const person = await newPerson()
    await addOTPEmail.handle(users, { userId: person.userId }, administrator())
    // Of the person's own, it is no second factor any more.
    expect(told((await signedIn(person)).page)['code']).toBeDefined()
    await setPolicy(users, { ...byMail, forceMfa: true })
    const { page, visitor } = await signedIn(person)
    expect(page.answer).toMatchObject({ $case: 'totpSetUp', value: { error: CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL } })
    expect(page.answer!.$case === 'totpSetUp' && page.answer.value.secret).toBeUndefined()
    expect(told(await visitor.silently())['error']).toBe('login_required')
    // Whatever the policy lists, nothing else than a factor that the person has lets them in.
    await setPolicy(users, { ...byMail, forceMfa: true, secondFactors: { types: [3] } })
    expect((await visitor.begin()).answer).toMatchObject({
      $case: 'code',
      value: { error: CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL },
    })
  })

  test('goes on with an app that the person has, as two factors', async () => {
    const person = await newPerson()
    await addApp(users, person, administrator())
    const { page } = await signedIn(person)
    expect(page.answer?.$case).toBe('factorCode')
  })

  test('is open to the person in a browser where a code was right before, whatever mails strangers ask for', async () => {
    const person = await newPerson()
    const { visitor } = await signedIn(person)
    for (let n = 0; n < 8; n++) {
      const stranger = new Visitor(users)
      await stranger.ask(await stranger.begin(), person.userName)
    }
    await users.sql`delete from unsent_mails where user_id = ${person.userId}`
    const stranger = new Visitor(users)
    await stranger.ask(await stranger.begin(), person.userName)
    expect(await mailedTo(person)).toBeUndefined()
    await visitor.ask(await visitor.begin({ prompt: 'login' }), person.userName)
    expect(await mailedTo(person)).toHaveLength(6)
  })
})

test('the account changes no factor and sets no password by a mailed code, and says so', async () => {
  const person = await newPerson()
  const { visitor } = await signedIn(person)
  const page = await visitor.account({ section: 'sign-in' })
  expect(page.answer).toMatchObject({ value: { signsInByMail: true, secondFactors: { mayAdd: false } } })
  const form = { browser: visitor.cookie, userId: person.userId, formToken: page.formToken, uiLocales: '' }
  const own = { ...call(), caller: { ...callIn('').caller, userId: '' } }
  const outcomeOf = ({ answer }: PageAnswer) => (answer?.$case === 'redirect' ? answer.value.location : answer?.$case)
  const totp = await changeMyTOTP(users, { ...form, action: 'begin', code: '' }, own)
  expect(outcomeOf(totp)).toContain('outcome=factor-refused')
  const codes = await changeMyRecoveryCodes(users, { ...form, action: 'make' }, own)
  expect(outcomeOf(codes)).toContain('outcome=factor-refused')
  const shownForPassword = await visitor.account({ section: 'password' })
  expect(shownForPassword.answer).toMatchObject({ value: { section: 'password', signsInByMail: true } })
  const set = await changeMyPassword(users, { ...form, password: 'a new and long password' }, own)
  expect(outcomeOf(set)).toContain('outcome=password-unused')
  const changed = await users.sql`
    select from events where aggregate_id = ${person.userId} and type = 'password.changed'
  `
  expect(changed).toHaveLength(0)
})

describe('passwords, where mailed codes serve', () => {
  test('sign in nobody: a right one is answered as a wrong one', async () => {
    const person = await newPerson()
    expect(await reasonOf(signIn(users, person))).toBe('CREDENTIALS_INVALID')
    const begun = await halfDone(person)
    expect(begun.missingFactors).toEqual([mailed])
    expect(await reasonOf(set(users, begun, { password: `${person.userName}-password` }))).toBe('CREDENTIALS_INVALID')
    const visitor = new Visitor(users)
    expect(said(await visitor.signIn(await visitor.begin(), person.userName))).toContain('sign-in')
    expect(told(await visitor.silently())['error']).toBe('login_required')
    expect(await listAuthenticationMethodTypes(users, person, call())).toEqual({ authMethodTypes: [password, mailed] })
  })

  test('are not reset by mail', async () => {
    const person = await newPerson()
    const waits = () =>
      users.sql`select from events where aggregate_type = 'user.password.code' and aggregate_id = ${person.userId}`
    await forgot(users, person.userName, call())
    expect(await waits()).toHaveLength(0)
    await setPolicy(users, {})
    await forgot(users, person.userName, call())
    expect(await waits()).toHaveLength(1)
  })

  test('leave a living session without a first factor at its next use, and so do codes where passwords come back', async () => {
    const person = await newPerson()
    await setPolicy(users, {})
    const session = await signIn(users, person)
    expect(await holder(session)).toBe('in')
    await setPolicy(users, byMail)
    expect(await holder(session)).toBe('TOKEN_INVALID')
    const byCode = await halfDone(person)
    const whole = await set(users, byCode, { otpEmailCode: await returned(byCode) })
    expect(await holder({ ...byCode, ...whole })).toBe('in')
    await setPolicy(users, {})
    expect(await holder({ ...byCode, ...whole })).toBe('TOKEN_INVALID')
    expect(await holder(session)).toBe('in')
    // The mailbox is no second factor of the one that it began.
    await addOTPEmail.handle(users, { userId: person.userId }, administrator())
    const otpEmailCode = await returned({ ...byCode, ...whole })
    expect(await reasonOf(set(users, { ...byCode, ...whole }, { otpEmailCode }))).toBe('FACTOR_NOT_AVAILABLE')
  })
})

describe('a session by the API', () => {
  test('begins with a code, moves the time of its first factor, and changes no factor of the person', async () => {
    const person = await newPerson()
    const begun = await halfDone(person)
    expect(await reasonOf(set(users, begun, { otpEmailCode: wrong }))).toBe('CODE_INVALID')
    const code = await returned(begun)
    const whole = await set(users, begun, { otpEmailCode: code })
    expect(whole).toMatchObject({ missingFactors: [] })
    const session = { ...begun, ...whole }
    expect(await holder(session)).toBe('in')
    expect(await reasonOf(set(users, begun, { otpEmailCode: code }))).toBe('SESSION_NOT_FOUND')
    expect((await getSession(users, { sessionId: begun.sessionId })).session!.factors).toMatchObject({
      otpEmail: { verifiedAt: expect.any(Date) },
    })
    const own = by(person, session)
    const { userId } = person
    expect(await reasonOf(registerTOTP.handle(users, { userId }, own))).toBe('MAILBOX_ALONE')
    expect(await reasonOf(addOTPEmail.handle(users, { userId }, own))).toBe('MAILBOX_ALONE')
    expect(await reasonOf(generateRecoveryCodes.handle(users, { userId }, own))).toBe('MAILBOX_ALONE')
  })

  test('is told what would serve beside the code, of a person who has no such factor', async () => {
    await setPolicy(users, { ...byMail, forceMfa: true })
    const begun = await halfDone(await newPerson())
    const { missingFactors } = await set(users, begun, { otpEmailCode: await returned(begun) })
    expect(missingFactors).toEqual([AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_TOTP])
  })

  test('gets no code where passwords serve, and none that it may see without the right to reset the password', async () => {
    const person = await newPerson()
    const begun = await halfDone(person)
    const application = {
      ...call(),
      caller: { ...callIn('acme').caller, userId: 'login', instanceRoles: ['IAM_LOGIN_CLIENT'] },
    }
    expect(await reasonOf(returned(begun, application))).toBe('PERMISSION_DENIED')
    await setPolicy(users, {})
    expect(await reasonOf(returned(begun))).toBe('FACTOR_NOT_AVAILABLE')
  })

  test('does not begin where the address changed between the check of its code and its record', async () => {
    const person = await newPerson()
    const { userId } = person
    const { sessionId: id, ...begun } = await halfDone(person)
    const text = await returned({ sessionId: id, ...begun })
    const given = {
      loginName: '',
      find: () => findUserById(users, userId),
      text,
      session: { id, browserId: undefined },
    }
    const proved = await factors['mailed-code'].check(users, given, call())
    const verification = { $case: 'isVerified', value: true }
    await setEmail.handle(users, { userId, email: `new-${person.email}`, verification } as never, administrator())
    expect(await reasonOf(recordFactor(users, proved, { session: undefined }, call()))).toBe('CREDENTIALS_INVALID')
  })

  test('is not opened by whoever set the address or saw the code, once the person has a role beyond theirs', async () => {
    Object.assign(roles, { root: ['IAM_OWNER'], manager: ['IAM_USER_MANAGER'] })
    const manager = () => ({
      ...call(),
      caller: { ...call().caller, userId: 'manager', instanceRoles: roles['manager']! },
    })
    const [seen, moved] = [await newPerson(), await newPerson()]
    const sessions = [await halfDone(seen), await halfDone(seen)] as const
    const codes = [await returned(sessions[0], manager()), await returned(sessions[1])] as const
    const verification = { $case: 'isVerified', value: true }
    const email = { userId: moved.userId, email: `new-${moved.email}`, verification }
    await setEmail.handle(users, email as never, manager())
    expect(await reasonOf(returned(await halfDone(moved)))).toBe('in')
    for (const { userId } of [seen, moved]) roles[userId] = ['IAM_OWNER']
    expect(await reasonOf(set(users, sessions[0], { otpEmailCode: codes[0] }))).toBe('CODE_INVALID')
    expect(await reasonOf(set(users, sessions[1], { otpEmailCode: codes[1] }))).toBe('in')
    expect(await reasonOf(returned(await halfDone(moved)))).toBe('FACTOR_NOT_AVAILABLE')
  })

  test('has five tries of a code, and others’ tries do not hold the person up', async () => {
    const person = await newPerson()
    const sessions = await Promise.all(Array.from({ length: 4 }, () => halfDone(person)))
    const codes: string[] = []
    for (const session of sessions) codes.push(await returned(session))
    const tries = await Promise.all(
      sessions
        .slice(1)
        .flatMap((session) => Array.from({ length: 20 }, () => reasonOf(set(users, session, { otpEmailCode: wrong })))),
    )
    expect(new Set(tries)).toEqual(new Set(['CODE_INVALID']))
    expect(await reasonOf(set(users, sessions[1]!, { otpEmailCode: codes[1]! }))).toBe('CODE_INVALID')
    expect(await reasonOf(set(users, sessions[0]!, { otpEmailCode: codes[0]! }))).toBe('in')
  })
})
