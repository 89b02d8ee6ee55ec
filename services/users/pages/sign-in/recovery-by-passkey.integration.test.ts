import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CodeError, FactorWay, type PageAnswer, RecoveryError } from '#gen/roster/users/v1/sign_in_service'
import { shiftClock } from '#test/support/shift-clock'
import type { User } from '../../directory/events/user.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { told } from '../../openid/authorization/testing/visitors.ts'
import {
  Authenticator,
  type CreationOptions,
  type RequestOptions,
} from '../../sessions/factors/passkey/testing/authenticator.ts'
import {
  allow,
  call,
  closeWorld,
  newPerson,
  openWorld,
  optionsOf,
  origin,
  type Person,
  signedIn,
  users,
  withPasskey,
} from '../../sessions/factors/passkey/testing/world.ts'
import { addApp, type App } from '../../sessions/factors/testing/second-factors.ts'
import { deleteUserSessions } from '../../sessions/operations/session/delete-user-sessions.ts'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { addOTPEmail } from '../../sessions/operations/factors/otp-email.ts'
import { registerU2F } from '../../sessions/operations/passkeys/register-u2f.ts'
import { verifyU2FRegistration } from '../../sessions/operations/passkeys/verify-u2f-registration.ts'
import { removeTOTP } from '../../sessions/operations/factors/remove-totp.ts'
import { checkCode } from '../operations/sign-in/check-code.ts'
import { checkPasskey, renewPasskeyChallenge } from '../operations/sign-in/check-passkey.ts'
import { Forgetful } from '../recovery/testing/forgetful.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)
afterEach(() => shiftClock(users.sql, '0 seconds'))

class Forgot extends Forgetful {
  async type({ requestId, formToken }: PageAnswer, code: string, action = 'check', factor = 'totp') {
    const request = { browser: this.cookie, requestId, formToken, code, action, factor, trust: '', trusts: '' }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }

  async pass({ requestId, formToken }: PageAnswer, credential: unknown, action = 'sign-in') {
    const sent = { credential: JSON.stringify(credential), action, keep: '' }
    const request = { ...sent, browser: this.cookie, requestId, formToken }
    return this.follow(this.keep(await checkPasskey(this.users, request, this.call())))
  }

  async renew({ requestId }: PageAnswer): Promise<unknown> {
    const { answer } = await renewPasskeyChallenge(this.users, { browser: this.cookie, requestId }, this.call())
    return answer?.$case === 'download' ? JSON.parse(Buffer.from(answer.value.content).toString()) : undefined
  }
}

const promptOf = ({ answer }: PageAnswer): string => {
  const isAsked = answer?.$case === 'recoveryPasskey' || answer?.$case === 'passkey'
  return isAsked ? answer.value.passkey!.options : `no prompt: ${answer?.$case}`
}
const toMake = (page: PageAnswer) => JSON.parse(promptOf(page)) as CreationOptions
const toSign = (page: PageAnswer) => JSON.parse(promptOf(page)) as RequestOptions
const caseOf = ({ answer }: PageAnswer) => answer?.$case
const codeError = ({ answer }: PageAnswer) => (answer?.$case === 'factorCode' ? answer.value.error : answer?.$case)
const recoveryError = ({ answer }: PageAnswer) =>
  answer?.$case === 'recoveryCode' || answer?.$case === 'recoveryPasskey'
    ? Object.entries(RecoveryError).find(([, value]) => value === answer.value.error)![0]
    : answer?.$case
const stateOf = async ({ userId }: Person) => (await users.store.load<User>('user', userId))!.state.human!

/** A person who entered the right code, and wants a passkey. */
async function forgot(person: Person) {
  const browser = new Forgot(users)
  const asking = await browser.ask(await browser.begin(), person.userName)
  const { code } = await browser.mailTo(person.userId)
  return { browser, asking, code, page: await browser.finish(asking, code, { action: 'passkey', password: '' }) }
}

async function withApp(): Promise<{ person: Person; app: App }> {
  const person = await newPerson()
  return { person, app: await addApp(users, { ...person, email: '' }) }
}

/** Who proved an app as well. */
async function proved() {
  const { person, app } = await withApp()
  const begun = await forgot(person)
  const page = await begun.browser.type(begun.page, await app.code(1))
  return { person, app, ...begun, page }
}

const add = (browser: Forgot, page: PageAnswer, authenticator: Authenticator, lies = {}) =>
  browser.finish(page, '', {
    action: 'add-passkey',
    password: '',
    name: 'Phone',
    credential: JSON.stringify(authenticator.create(toMake(page), lies)),
  })

test('a passkey takes the place of a new password after the code and the app of the person, who is signed in by it', async () => {
  const { person, app } = await withApp()
  const { hash } = (await findUserById(users, person.userId))!
  const { browser, asking, code, page: second } = await forgot(person)
  expect(asking.answer).toMatchObject({ $case: 'recoveryCode', value: { offersPasskey: true } })
  expect(second.answer).toMatchObject({ $case: 'factorCode', value: { way: FactorWay.FACTOR_WAY_TOTP, ways: [] } })
  expect(codeError(await browser.type(second, await app.wrong()))).toBe(CodeError.CODE_ERROR_WRONG)
  const page = await browser.type(second, await app.code(1))
  expect(caseOf(page)).toBe('recoveryPasskey')
  const authenticator = new Authenticator(origin)
  expect(told(await add(browser, page, authenticator))['code']).toBeDefined()
  const human = await stateOf(person)
  expect(human).toMatchObject({
    passkeys: [{ credentialId: authenticator.id, name: 'Phone' }],
    secondFactors: ['totp'],
  })
  // The password is as it was: nobody proved more of it.
  expect((await findUserById(users, person.userId))!.hash).toBe(hash)
  expect(human.passwordByMail).toBeUndefined()
  const mails = await users.sql`select from unsent_mails where user_id = ${person.userId} and kind = 'passkey-added'`
  expect(mails).toHaveLength(1)
  const events = await users.sql<{ type: string }[]>`
    select type from events where aggregate_type = 'user.password.code' and aggregate_id = ${person.userId} order by sequence
  `
  expect(events.map(({ type }) => type)).toEqual(['requested', 'factor.rejected', 'factor.checked'])
  // The code is used up, for a password as well.
  const other = new Forgot(users)
  const again = await other.ask(await other.begin(), person.userName)
  expect(recoveryError(await other.finish(again, code, { action: 'passkey' }))).toBe('RECOVERY_ERROR_CODE_WRONG')
  expect(recoveryError(await other.finish(again, code))).toBe('RECOVERY_ERROR_CODE_WRONG')
})

test('a recovery code, and a security key, prove it as well', async () => {
  const { person } = await withApp()
  const { recoveryCodes } = await generateRecoveryCodes.handle(users, { userId: person.userId }, call())
  const { browser, page } = await forgot(person)
  const other = await browser.type(page, '', 'by-recovery-code')
  expect(other.answer).toMatchObject({
    value: { way: FactorWay.FACTOR_WAY_RECOVERY_CODE, ways: [FactorWay.FACTOR_WAY_TOTP] },
  })
  expect(caseOf(await browser.type(other, recoveryCodes[0]!, 'check', 'recovery-code'))).toBe('recoveryPasskey')

  const holder = await newPerson()
  const key = new Authenticator(origin)
  const caller = await signedIn(holder)
  const begun = await registerU2F.handle(users, { userId: holder.userId, domain: '' }, caller)
  const publicKeyCredential = key.create(optionsOf(begun), { uv: false })
  const made = { userId: holder.userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' }
  await verifyU2FRegistration.handle(users, made, caller)
  const { browser: at, page: asks } = await forgot(holder)
  const foreign = await withPasskey()
  expect(caseOf(await at.pass(asks, foreign.authenticator.get(toSign(asks))))).toBe('passkey')
  const renewed = (await at.renew(asks)) as RequestOptions
  expect(caseOf(await at.pass(asks, key.get(renewed, { uv: false })))).toBe('recoveryPasskey')
})

test('the code alone leads to none: neither without a second factor nor with the mailbox as one', async () => {
  const plain = await newPerson()
  const { browser, page, code } = await forgot(plain)
  expect(recoveryError(page)).toBe('RECOVERY_ERROR_NO_SECOND_FACTOR')
  // A password remains, by the same code.
  expect(told(await browser.finish(page, code))['code']).toBeDefined()
  const byMail = await newPerson()
  await addOTPEmail.handle(users, { userId: byMail.userId }, call())
  expect(recoveryError((await forgot(byMail)).page)).toBe('RECOVERY_ERROR_NO_SECOND_FACTOR')
})

test('nothing is added before the second factor, nor by a challenge of another page', async () => {
  const { person } = await withApp()
  const { browser, page } = await forgot(person)
  const made = new Authenticator(origin)
  const elsewhere = await proved()
  const sent = { action: 'add-passkey', password: '' }
  const credential = JSON.stringify(made.create(toMake(elsewhere.page)))
  expect(caseOf(await browser.finish(page, '', { ...sent, credential }))).toBe('factorCode')
  expect((await stateOf(person)).passkeys).toBeUndefined()
  const other = await proved()
  expect(recoveryError(await other.browser.finish(other.page, '', { ...sent, credential }))).toBe(
    'RECOVERY_ERROR_PASSKEY_LATE',
  )
})

test('what was proved counts in its browser, for ten minutes, and as long as the factor is the same', async () => {
  const { browser, page, person } = await proved()
  const thief = new Forgot(users)
  expect(caseOf(await thief.show(page.requestId))).toBe('notice')
  await shiftClock(users.sql, '601 seconds')
  expect(caseOf(await browser.show(page.requestId))).toBe('factorCode')
  expect(caseOf(await add(browser, page, new Authenticator(origin)))).toBe('factorCode')
  await shiftClock(users.sql, '0 seconds')
  expect(caseOf(await browser.show(page.requestId))).toBe('recoveryPasskey')
  await removeTOTP.handle(users, { userId: person.userId }, call())
  expect(recoveryError(await add(browser, page, new Authenticator(origin)))).toBe('RECOVERY_ERROR_CODE_WRONG')
  expect((await stateOf(person)).passkeys).toBeUndefined()
})

test('the end of all sessions ends what was proved', async () => {
  const { browser, page, person } = await proved()
  await deleteUserSessions.handle(users, { userId: person.userId }, call())
  expect(caseOf(await add(browser, page, new Authenticator(origin)))).toBe('factorCode')
  expect((await stateOf(person)).passkeys).toBeUndefined()
})

test('another code, another address or another password ends it', async () => {
  const { browser, page, code, person } = await proved()
  // The same code set a password in another tab.
  const request = await browser.recover(await browser.begin(), 'begin', person.userName)
  expect(caseOf(request)).toBe('recovery')
  await users.store.execute({
    aggregate: { type: 'user', id: person.userId },
    call: call(),
    decide: () => ({ events: [{ type: 'password.changed', payload: {} }], answer: undefined }),
  })
  expect(recoveryError(await add(browser, page, new Authenticator(origin)))).toBe('RECOVERY_ERROR_CODE_WRONG')
  expect(recoveryError(await browser.finish(page, code, { action: 'passkey' }))).toBe('RECOVERY_ERROR_CODE_WRONG')
})

test('guesses of the second factor count with those of sign-ins', async () => {
  const { person, app } = await withApp()
  const { browser, page } = await forgot(person)
  const wrong = await app.wrong()
  for (let tried = 0; tried < 5; tried++)
    expect(codeError(await browser.type(page, wrong))).toBe(CodeError.CODE_ERROR_WRONG)
  expect(codeError(await browser.type(page, await app.code(1)))).toBe(CodeError.CODE_ERROR_THROTTLED)
})

test('a wrong mailed code counts as one, and says nothing of the person', async () => {
  const { person } = await withApp()
  const browser = new Forgot(users)
  const asking = await browser.ask(await browser.begin(), person.userName)
  const { code } = await browser.mailTo(person.userId)
  for (let tried = 0; tried < 5; tried++)
    expect(recoveryError(await browser.finish(asking, 'ZZZZZZ', { action: 'passkey' }))).toBe(
      'RECOVERY_ERROR_CODE_WRONG',
    )
  expect(recoveryError(await browser.finish(asking, code, { action: 'passkey' }))).toBe('RECOVERY_ERROR_CODE_WRONG')
  const nobody = new Forgot(users)
  const same = await nobody.ask(await nobody.begin(), 'nobody')
  expect(same.answer).toMatchObject({ $case: 'recoveryCode', value: { offersPasskey: true } })
  expect(recoveryError(await nobody.finish(same, code, { action: 'passkey' }))).toBe('RECOVERY_ERROR_CODE_WRONG')
})

test('where the policy allows none, none is offered or taken', async () => {
  const { browser, page } = await proved()
  await allow({ allowPasskeys: false }, 'acme')
  expect(caseOf(await add(browser, page, new Authenticator(origin)))).not.toBe('leaving')
  const { person } = await withApp()
  expect(recoveryError((await forgot(person)).page)).toBe('RECOVERY_ERROR_PASSKEY_NOT_ALLOWED')
  await allow({ allowPasskeys: true }, 'acme')
})

test('a device that did not make sure of the person is refused in a sentence, and the way back is a new password', async () => {
  const { browser, page, code } = await proved()
  const refused = await add(browser, page, new Authenticator(origin), { uv: false })
  expect(recoveryError(refused)).toBe('RECOVERY_ERROR_PASSKEY_UNVERIFIED')
  const hidden = await add(browser, refused, new Authenticator(origin), { credProps: { rk: false } })
  expect(recoveryError(hidden)).toBe('RECOVERY_ERROR_PASSKEY_INVALID')
  const back = await browser.finish(hidden, '', { action: 'password' })
  expect(caseOf(back)).toBe('recoveryCode')
  // Its app is asked for then, as after each password.
  expect(caseOf(await browser.finish(back, code))).toBe('factorCode')
})

test('a password that a mailed code gives to somebody with a passkey alone is one by mail', async () => {
  const { person } = await withPasskey()
  await users.sql`delete from passwords where user_id = ${person.userId}`
  const browser = new Forgot(users)
  const asking = await browser.ask(await browser.begin(), person.userName)
  const { code } = await browser.mailTo(person.userId)
  await browser.finish(asking, code)
  expect((await stateOf(person)).passwordByMail).toBe(true)
})
