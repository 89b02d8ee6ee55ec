import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { hashToken } from '../directory/tokens/token.ts'
import { authenticate } from '../internal/authenticate.ts'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { openUsers, serveDomains, type TestUsers } from '../testing/test-users.ts'
import {
  addApp,
  App,
  call,
  newPerson,
  type Person,
  reasonOf,
  type Session,
  set,
  setPolicy,
  signIn,
} from './factors/testing/second-factors.ts'
import { createSession } from './operations/session/create-session.ts'
import { deleteSession } from './operations/session/delete-session.ts'
import { addOTPEmail, removeOTPEmail } from './operations/factors/otp-email.ts'
import { registerTOTP } from './operations/factors/register-totp.ts'
import { setPassword } from './operations/set-password.ts'
import { setSession } from './operations/session/set-session.ts'
import { verifyTOTPRegistration } from './operations/factors/verify-totp-registration.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, {})
}, 60_000)
beforeEach(() => setPolicy(users, { forceMfa: true }, 'acme'))
afterEach(() => shiftClock(users.sql, '0'))
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

/** A call of a login application, which has no permission on people. */
const byLogin = (userId = 'login') => ({
  ...call(),
  caller: { ...call().caller, userId, human: false, organizationId: 'other', instanceRoles: ['IAM_LOGIN_CLIENT'] },
})

/** A session that a login application begins by a name. */
async function begin({ userName }: Person, login = byLogin()): Promise<Session> {
  return createSession.handle(users, { loginName: userName, userId: '', password: '', lifetime: undefined }, login)
}

async function sendPassword({ userName }: Person, { sessionId, sessionToken }: Session, login = byLogin()) {
  const request = { sessionId, sessionToken, password: `${userName}-password`, otpEmailCode: '', lifetime: undefined }
  return { sessionId, ...(await setSession.handle(users, request, login)) }
}

const register = (person: Person, login = byLogin()) => registerTOTP.handle(users, { userId: person.userId }, login)
const setUp = (person: Person, login?: ReturnType<typeof byLogin>) => reasonOf(register(person, login))
const holder = ({ sessionToken }: Pick<Session, 'sessionToken'>) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))
const notFresh = 'FACTOR_NOT_FRESH'

test('who must have a second factor and has none sets up an app at a login application, in the same sign-in', async () => {
  const person = await newPerson(users)
  const begun = await sendPassword(person, await begin(person))
  expect(begun.missingFactors.length).toBeGreaterThan(0)
  const app = new App(users, (await register(person)).secret)
  const verify = async (code: string) =>
    reasonOf(verifyTOTPRegistration.handle(users, { userId: person.userId, code }, byLogin()))
  expect(await verify(await app.wrong())).toBe('CODE_INVALID')
  expect(await verify(await app.code())).toBe('in')
  expect((await set(users, begun, { totpCode: await app.code(1) })).missingFactors).toEqual([])
  // Another one is changed where the person is asked for this one first.
  const again = await sendPassword(person, await begin(person))
  expect(await reasonOf(addOTPEmail.handle(users, person, byLogin()))).toBe('in')
  expect(again.missingFactors.length).toBeGreaterThan(0)
})

test('nobody gets a factor by a login application without a session there whose first factor was checked of late', async () => {
  const person = await newPerson(users)
  const refused: string[] = [await setUp(person), await setUp({ ...person, userId: 'unknown' })]
  // By its name alone; at another login application; without any, as CreateSession is for everybody; of another person.
  const halfDone = await begin(person)
  refused.push(await setUp(person))
  await sendPassword(person, await begin(person, byLogin('other login')), byLogin('other login'))
  await signIn(users, person)
  const other = await newPerson(users)
  await sendPassword(other, await begin(other))
  refused.push(await setUp(person))
  const begun = await sendPassword(person, halfDone)
  expect(await setUp(person)).toBe('in')
  await shiftClock(users.sql, '11 minutes')
  refused.push(await setUp(person))
  await shiftClock(users.sql, '0')
  const ending = { sessionId: begun.sessionId, sessionToken: begun.sessionToken }
  await deleteSession.handle(users, ending, byLogin())
  refused.push(await setUp(person))
  expect(refused).toEqual(Array(6).fill(notFresh))
})

test('a partial session adds nothing for a person who has a factor, nor one where the policy demands none of the kind', async () => {
  const person = await newPerson(users)
  await addOTPEmail.handle(users, person, call())
  await sendPassword(person, await begin(person))
  expect(await setUp(person)).toBe(notFresh)
  const other = await newPerson(users)
  await setPolicy(users, { forceMfa: true, secondFactors: { types: [3] } }, 'acme')
  await sendPassword(other, await begin(other))
  expect([await setUp(other), await reasonOf(addOTPEmail.handle(users, other, byLogin()))]).toEqual([
    notFresh,
    notFresh,
  ])
})

test('a whole session adds one where nobody demands it, as the account page does', async () => {
  const person = await newPerson(users)
  await setPolicy(users, {}, 'acme')
  const begun = await sendPassword(person, await begin(person))
  expect(begun.missingFactors).toEqual([])
  await addApp(users, person, byLogin())
  // It lacks the new one now.
  expect(await reasonOf(addOTPEmail.handle(users, person, byLogin()))).toBe(notFresh)
})

test('a session that a mailed code began adds nothing, until another factor of the person was checked in it', async () => {
  const person = await newPerson(users)
  await setPolicy(users, { allowMailedCodes: true, allowUsernamePassword: false }, 'acme')
  const begun = await begin(person)
  const otpEmail = { delivery: { $case: 'returnCode', value: {} } }
  const { otpEmail: code } = (await set(users, begun, { otpEmail })).challenges!
  const proved = { ...begun, password: '', otpEmailCode: code!, lifetime: undefined }
  const whole = await setSession.handle(users, proved, byLogin())
  expect(whole.missingFactors).toEqual([])
  expect(await setUp(person)).toBe(notFresh)
  const app = await addApp(users, person)
  const { sessionToken } = whole
  expect(await reasonOf(set(users, { ...begun, sessionToken }, { totpCode: await app.code(1) }))).toBe('in')
  expect(await reasonOf(addOTPEmail.handle(users, person, byLogin()))).toBe('in')
})

test('a password that somebody else set is changed at the login application whose session lacks that alone, and goes on', async () => {
  await setPolicy(users, {}, 'acme')
  const person = await newPerson(users)
  const { userId, userName } = person
  const choose = (password: string, login = byLogin(), more: { changeRequired?: boolean } = {}) =>
    reasonOf(setPassword.handle(users, { userId, newPassword: { password, ...more } }, login))
  // Nobody else set it.
  await sendPassword(person, await begin(person))
  const refused = [await choose('of the login application')]
  const handed = { password: `${userName}-password`, changeRequired: true }
  await setPassword.handle(users, { userId, newPassword: handed }, call())
  refused.push(await choose('without a session'))
  const begun = await sendPassword(person, await begin(person))
  expect(begun.missingFactors).toEqual([AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSWORD])
  refused.push(await choose('at another one', byLogin('other login')))
  refused.push(await choose('to be changed once more', byLogin(), { changeRequired: true }))
  await addOTPEmail.handle(users, person, call())
  refused.push(await choose('without the second factor'))
  await removeOTPEmail.handle(users, person, call())
  await shiftClock(users.sql, '11 minutes')
  refused.push(await choose('too late'))
  await shiftClock(users.sql, '0')
  expect(refused).toEqual(Array(6).fill(notFresh))
  expect(await choose(handed.password)).toBe('PASSWORD_UNCHANGED')
  expect(await holder(begun)).toBe('TOKEN_INVALID')
  expect(await choose('chosen by the person')).toBe('in')
  expect(await holder(begun)).toBe('in')
  expect(await choose('and once more')).toBe(notFresh)
})

test('who must choose another password sets up no second factor before, at a login application', async () => {
  const person = await newPerson(users)
  const { userId, userName } = person
  const choose = (password: string, more = {}, login = byLogin()) =>
    reasonOf(setPassword.handle(users, { userId, newPassword: { password, ...more } }, login))
  expect(await choose(`${userName}-password`, { changeRequired: true }, call())).toBe('in')
  const begun = await sendPassword(person, await begin(person))
  expect(await setUp(person)).toBe(notFresh)
  expect(await choose('chosen by the person')).toBe('in')
  expect(await setUp(person)).toBe('in')
  expect(await holder(begun)).toBe('TOKEN_INVALID')
})
