import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { CodeError, FactorWay, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../directory/email/code.ts'
import { setPassword } from '../../directory/operations/password/set-password.ts'
import { findCode } from '../../directory/secrets/one-time-codes.ts'
import {
  noteApplication,
  nothingNewer,
  redirectUri,
  told,
  Visitor as Anyone,
} from '../../openid/authorization/testing/visitors.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { addOTPEmail } from '../../sessions/operations/factors/otp-email.ts'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { removeTOTP } from '../../sessions/operations/factors/remove-totp.ts'
import {
  addApp,
  App,
  call,
  newPerson as person,
  type Person,
  setPolicy,
} from '../../sessions/factors/testing/second-factors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { changeMyRecoveryCodes } from '../account/change-my-recovery-codes.ts'
import { changeMyTOTP } from '../account/change-my-totp.ts'
import { checkCode } from '../operations/sign-in/check-code.ts'
import { passwordReset } from '../recovery/password-reset.ts'

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
beforeEach(() => setPolicy(users, {}))
afterEach(() => shiftClock(users.sql, '0 seconds'))

const newPerson = () => person(users)
const { FACTOR_WAY_TOTP: byApp, FACTOR_WAY_MAIL: byMail, FACTOR_WAY_RECOVERY_CODE: byCode } = FactorWay
const types = (...kinds: SecondFactorType[]) => ({ secondFactors: { types: kinds } })
const { SECOND_FACTOR_TYPE_OTP: otp } = SecondFactorType
const codesOf = async ({ userId }: Person) =>
  (await generateRecoveryCodes.handle(users, { userId }, call())).recoveryCodes
const mailsOf = ({ userId }: Person) =>
  users.sql<{ kind: string }[]>`select kind from unsent_mails where user_id = ${userId}`
const factorsOf = async ({ userId }: Person) =>
  (await users.store.load<{ human: { secondFactors?: string[] } }>('user', userId))!.state.human.secondFactors ?? []

/** What the page asks for, in short. */
function asked({ answer }: PageAnswer) {
  switch (answer?.$case) {
    case 'factorCode': {
      const { way, ways, error } = answer.value
      return { way, ways, error }
    }
    case 'code':
      return { way: byMail, ways: answer.value.ways, error: answer.value.error, isSent: answer.value.isSent }
    case 'totpSetUp':
      return { setUp: answer.value.secret !== undefined, ways: answer.value.ways, error: answer.value.error }
    default:
      return { page: answer?.$case }
  }
}

const secretOf = ({ answer }: PageAnswer) =>
  answer?.$case === 'totpSetUp'
    ? answer.value.secret!.text
    : answer?.$case === 'account'
      ? answer.value.secondFactors!.secret!.text
      : ''

class Visitor extends Anyone {
  async send(
    { requestId, formToken }: PageAnswer,
    given: { action?: string; code?: string; factor?: string },
  ): Promise<PageAnswer> {
    const request = {
      browser: this.cookie,
      requestId,
      formToken,
      code: '',
      action: 'check',
      factor: '',
      trust: '',
      trusts: '',
      ...given,
    }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }

  async app(page: PageAnswer, action: string, code = ''): Promise<PageAnswer> {
    return this.follow(this.keep(await changeMyTOTP(this.users, { ...this.form(page), action, code }, this.call())))
  }

  async codes(page: PageAnswer, action: string): Promise<PageAnswer> {
    return this.follow(this.keep(await changeMyRecoveryCodes(this.users, { ...this.form(page), action }, this.call())))
  }

  private form({ answer, formToken, uiLocales }: PageAnswer) {
    const userId = answer?.$case === 'account' ? answer.value.userId : ''
    return { browser: this.cookie, userId, formToken, uiLocales }
  }
}

async function amrOf(answer: PageAnswer) {
  const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client' }
  const proof = { code: told(answer)['code']!, codeVerifier: 'verifier', redirectUri }
  return decodeJwt((await issueToken.handle(users, { ...request, ...proof }, callIn(''))).idToken!)['amr']
}

describe('a sign-in', () => {
  test('asks for the code of the app, says what was wrong, and tells the application of both factors', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    expect(asked(page)).toEqual({ way: byApp, ways: [], error: CodeError.CODE_ERROR_UNSPECIFIED })
    // Nothing was mailed.
    expect((await mailsOf(own)).map(({ kind }) => kind)).toEqual(['factor-added'])
    const wrong = await visitor.send(page, { factor: 'totp', code: await app.wrong() })
    expect(asked(wrong)).toMatchObject({ way: byApp, error: CodeError.CODE_ERROR_WRONG })
    expect(await amrOf(await visitor.send(wrong, { factor: 'totp', code: await app.code(1) }))).toEqual([
      'pwd',
      'otp',
      'mfa',
    ])
  })

  test('takes another way of those that the person has, and no other', async () => {
    const own = await newPerson()
    await addApp(users, own)
    await addOTPEmail.handle(users, own, call())
    const [code] = await codesOf(own)
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    expect(asked(page)).toMatchObject({ way: byApp, ways: [byMail, byCode] })
    const mailed = await visitor.send(page, { action: 'by-mail' })
    expect(asked(mailed)).toMatchObject({ way: byMail, ways: [byApp, byCode], isSent: true })
    expect(asked(await visitor.send(mailed, { action: 'by-totp' }))).toMatchObject({ way: byApp })
    const last = await visitor.send(mailed, { action: 'by-recovery-code' })
    expect(asked(last)).toEqual({ way: byCode, ways: [byApp, byMail], error: CodeError.CODE_ERROR_UNSPECIFIED })
    const wrong = await visitor.send(last, { factor: 'recovery-code', code: 'AAAA-AAAA-AAAA-AAAA' })
    expect(asked(wrong)).toMatchObject({ way: byCode, error: CodeError.CODE_ERROR_WRONG })
    expect(told(await visitor.send(wrong, { factor: 'recovery-code', code: code! }))['code']).toBeDefined()
    expect((await mailsOf(own)).map(({ kind }) => kind)).toContain('recovery-code-used')
  })

  test('of who has the app alone takes no mailed code, whatever the form says', async () => {
    const own = await newPerson()
    await addApp(users, own)
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    for (const given of [
      { action: 'send' },
      { action: 'by-mail' },
      { action: 'set-up' },
      { action: 'by-recovery-code' },
      { code: 'ZZZZZZ' },
    ])
      expect(asked(await visitor.send(page, given))).toMatchObject({ way: byApp, ways: [] })
    expect((await mailsOf(own)).map(({ kind }) => kind)).toEqual(['factor-added'])
    expect(
      await users.sql`select from secrets where user_id = ${own.userId} and kind in ('otp-email', 'totp-setup')`,
    ).toHaveLength(0)
  })

  test('is asked for elsewhere by a page of a browser that passed it, whose guesses count apart', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const visitor = new Visitor(users)
    const first = await visitor.signIn(await visitor.begin(), own.userName)
    await visitor.send(first, { factor: 'totp', code: await app.code(1) })
    // Somebody else has the password, and uses up the tries of everybody.
    const thief = new Visitor(users)
    const thiefs = await thief.signIn(await thief.begin(), own.userName)
    for (let n = 0; n < 5; n++) await thief.send(thiefs, { factor: 'totp', code: 'x' })
    expect(asked(await thief.send(thiefs, { factor: 'totp', code: 'x' }))).toMatchObject({
      error: CodeError.CODE_ERROR_THROTTLED,
    })
    await shiftClock(users.sql, '2 minutes')
    const account = await visitor.account()
    await visitor.leave(account, 'everywhere')
    const again = await visitor.signIn(await visitor.begin(), own.userName)
    expect(asked(again)).toMatchObject({ way: byApp })
    expect(told(await visitor.send(again, { factor: 'totp', code: await app.code() }))['code']).toBeDefined()
  })

  test('says that no further code is checked after a hundred wrong ones, and still takes another way', async () => {
    const own = await newPerson()
    await addApp(users, own)
    const [code] = await codesOf(own)
    await users.sql`insert into factor_guesses (user_id, kind, browser_id, wrong) values (${own.userId}, 'totp', '', 100)`
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    const locked = await visitor.send(page, { factor: 'totp', code: '000000' })
    expect(asked(locked)).toEqual({ way: byApp, ways: [byCode], error: CodeError.CODE_ERROR_LOCKED })
    const other = await visitor.send(locked, { action: 'by-recovery-code' })
    expect(told(await visitor.send(other, { factor: 'recovery-code', code: code! }))['code']).toBeDefined()
  })
})

describe('a sign-in that demands a second factor of who has none', () => {
  test('lets the person set up an app, and goes on with its code', async () => {
    await setPolicy(users, { forceMfa: true, ...types(otp) })
    const own = await newPerson()
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    expect(asked(page)).toEqual({ setUp: false, ways: [], error: CodeError.CODE_ERROR_UNSPECIFIED })
    const begun = await visitor.send(page, { action: 'set-up' })
    expect(asked(begun)).toMatchObject({ setUp: true })
    const app = new App(users, secretOf(begun))
    const wrong = await visitor.send(begun, { action: 'confirm', code: await app.wrong() })
    expect(asked(wrong)).toMatchObject({ setUp: true, error: CodeError.CODE_ERROR_WRONG })
    expect(secretOf(wrong)).toBe(secretOf(begun))
    expect(await amrOf(await visitor.send(wrong, { action: 'confirm', code: await app.code() }))).toEqual([
      'pwd',
      'otp',
      'mfa',
    ])
    expect([await factorsOf(own), (await mailsOf(own)).map(({ kind }) => kind)]).toEqual([['totp'], ['factor-added']])
    // Its next sign-in asks for it.
    const later = new Visitor(users)
    expect(asked(await later.signIn(await later.begin(), own.userName))).toMatchObject({ way: byApp })
  })

  test('shows the secret in its browser alone, and takes its code there alone', async () => {
    await setPolicy(users, { forceMfa: true, ...types(otp) })
    const own = await newPerson()
    const [visitor, thief] = [new Visitor(users), new Visitor(users)]
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    const thiefs = await thief.signIn(await thief.begin(), own.userName)
    const begun = await visitor.send(page, { action: 'set-up' })
    expect(asked(await thief.show(thiefs.requestId))).toMatchObject({ setUp: false })
    const app = new App(users, secretOf(begun))
    expect(asked(await thief.send(thiefs, { action: 'confirm', code: await app.code() }))).toMatchObject({
      setUp: false,
      error: CodeError.CODE_ERROR_WRONG,
    })
    expect(told(await visitor.send(begun, { action: 'confirm', code: await app.code() }))['code']).toBeDefined()
    // What was begun before counts no more.
    expect(asked(await thief.send(thiefs, { action: 'set-up' }))).toMatchObject({ way: byApp })
  })

  test('offers it beside the mailed code', async () => {
    await setPolicy(users, { forceMfa: true })
    const own = await newPerson()
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName)
    expect(page.answer).toMatchObject({ $case: 'code', value: { isSent: true, maySetUp: true, ways: [] } })
    const begun = await visitor.send(page, { action: 'set-up' })
    expect(asked(begun)).toMatchObject({ setUp: true, ways: [byMail] })
    expect(asked(await visitor.send(begun, { action: 'by-mail' }))).toMatchObject({ way: byMail, isSent: true })
    const app = new App(users, secretOf(begun))
    expect(told(await visitor.send(begun, { action: 'confirm', code: await app.code() }))['code']).toBeDefined()
  })

  test('sets none up by a password from the mailbox, nor beside a factor that does not serve', async () => {
    await setPolicy(users, { forceMfa: true, ...types(otp) })
    const own = await newPerson()
    const { userId, email } = own
    await passwordReset.handle(users, { userId, medium: { $case: 'sendLink', value: {} } } as never, call())
    const state = (await users.store.load<never>('user.password.code', userId))!.state
    const value = deriveCode(users.keys, state, userId, email, 'password-code')
    const newPassword = { password: 'renewed password', changeRequired: false }
    await setPassword.handle(
      users,
      { userId, newPassword, verification: { $case: 'verificationCode', value } } as never,
      call(),
    )
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), own.userName, 'renewed password')
    expect(asked(page)).toEqual({ setUp: false, ways: [], error: CodeError.CODE_ERROR_PASSWORD_BY_MAIL })
    const refused = await visitor.send(page, { action: 'set-up' })
    expect(asked(refused)).toMatchObject({ setUp: false, error: CodeError.CODE_ERROR_PASSWORD_BY_MAIL })

    const other = await newPerson()
    await addOTPEmail.handle(users, other, call())
    const elsewhere = new Visitor(users)
    const dead = await elsewhere.signIn(await elsewhere.begin(), other.userName)
    expect(asked(dead)).toEqual({ setUp: false, ways: [], error: CodeError.CODE_ERROR_NOT_SET_UP })
    expect(asked(await elsewhere.send(dead, { action: 'set-up' }))).toMatchObject({
      error: CodeError.CODE_ERROR_NOT_SET_UP,
    })
    expect([await factorsOf(own), await factorsOf(other)]).toEqual([[], ['otp-email']])
  })
})

describe('the account', () => {
  const parts = ({ answer }: PageAnswer) =>
    answer?.$case === 'account' ? { ...answer.value.secondFactors!, outcome: answer.value.outcome } : undefined

  test('sets an app up and stays signed in, makes codes that are shown once, and removes both', async () => {
    const own = await newPerson()
    const visitor = new Visitor(users)
    await visitor.signIn(await visitor.account(), own.userName)
    expect(parts(await visitor.account({ section: 'sign-in' }))).toMatchObject({
      hasTotp: false,
      mayHaveRecoveryCodes: false,
    })
    const page = await visitor.account({ section: 'authenticator' })
    expect(parts(page)).toMatchObject({ hasTotp: false, mayAdd: true, secret: undefined })
    const begun = await visitor.app(page, 'begin')
    const app = new App(users, secretOf(begun))
    expect(parts(await visitor.app(begun, 'confirm', await app.wrong()))).toMatchObject({
      outcome: 'app-code-wrong',
      hasTotp: false,
    })
    const added = await visitor.app(begun, 'confirm', await app.code())
    expect(parts(added)).toMatchObject({ outcome: 'factor-added', hasTotp: true, mayHaveRecoveryCodes: true })
    // In another browser it is asked for, and here no more.
    const other = new Visitor(users)
    expect(asked(await other.signIn(await other.account(), own.userName))).toMatchObject({ way: byApp })

    const made = await visitor.codes(await visitor.account({ section: 'recovery-codes' }), 'make')
    expect(parts(made)!.recoveryCodes).toHaveLength(10)
    expect(parts(await visitor.account({ section: 'recovery-codes' }))).toMatchObject({
      recoveryCodes: [],
      recoveryCodesLeft: 10,
    })
    const removed = await visitor.app(await visitor.account({ section: 'authenticator' }), 'remove')
    expect(parts(removed)).toMatchObject({ outcome: 'factor-removed', hasTotp: false, recoveryCodesLeft: undefined })
    expect(parts(await visitor.codes(removed, 'make'))).toMatchObject({ outcome: 'codes-refused', recoveryCodes: [] })
    expect((await mailsOf(own)).map(({ kind }) => kind).toSorted()).toEqual([
      'factor-added',
      'factor-removed',
      'recovery-codes-made',
    ])
  })

  test('changes nothing with a password that is not fresh, and shows a secret to its own session alone', async () => {
    const own = await newPerson()
    const [visitor, thief] = [new Visitor(users), new Visitor(users)]
    await visitor.signIn(await visitor.account(), own.userName)
    await thief.signIn(await thief.account(), own.userName)
    const begun = await visitor.app(await visitor.account({ section: 'authenticator' }), 'begin')
    expect(parts(begun)!.secret).toBeDefined()
    expect(parts(await thief.account({ section: 'authenticator' }))!.secret).toBeUndefined()
    const app = new App(users, secretOf(begun))
    await shiftClock(users.sql, '11 minutes')
    for (const send of [
      () => visitor.app(begun, 'begin'),
      () => visitor.app(begun, 'remove'),
      () => visitor.codes(begun, 'make'),
    ])
      expect(asked(await send())).toEqual({ page: 'signIn' })
    expect(asked(await visitor.app(begun, 'confirm', await app.code()))).toEqual({ page: 'signIn' })
    expect(await factorsOf(own)).toEqual([])
  })
})

test('a mailed code is none for who has an app, also where the policy demands one of either', async () => {
  await setPolicy(users, { forceMfa: true })
  const own = await newPerson()
  const visitor = new Visitor(users)
  const page = await visitor.signIn(await visitor.begin(), own.userName)
  const [row] = await users.sql<
    { id: string }[]
  >`select mail_id as id from unsent_mails where user_id = ${own.userId} and kind = 'otp-email'`
  const code = (await findCode(users, 'otp-email', { codeId: row!.id }))!
  const app = await addApp(users, own)
  const text = deriveCode(users.keys, code.code, own.userId, own.email, 'otp-email')
  expect(asked(await visitor.send(page, { code: text }))).toMatchObject({ way: byApp })
  expect(told(await visitor.send(page, { factor: 'totp', code: await app.code(1) }))['code']).toBeDefined()
  await removeTOTP.handle(users, own, call())
})
