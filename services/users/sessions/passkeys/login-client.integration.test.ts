import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { shiftClock } from '#test/support/shift-clock'
import { Authenticator } from '../factors/passkey/testing/authenticator.ts'
import {
  allow,
  by,
  call,
  closeWorld,
  newPerson,
  openWorld,
  optionsOf,
  origin,
  type Person,
  reasonOf,
  roles,
  signedIn,
  users,
} from '../factors/passkey/testing/world.ts'
import { addApp } from '../factors/testing/second-factors.ts'
import { createSession } from '../operations/session/create-session.ts'
import { deleteSession } from '../operations/session/delete-session.ts'
import { createPasskeyRegistrationLink as link } from '../operations/passkeys/create-passkey-registration-link.ts'
import { listPasskeys } from '../operations/passkeys/list-passkeys.ts'
import { registerPasskey } from '../operations/passkeys/register-passkey.ts'
import { registerU2F } from '../operations/passkeys/register-u2f.ts'
import { verifyPasskeyRegistration } from '../operations/passkeys/verify-passkey-registration.ts'
import { verifyU2FRegistration } from '../operations/passkeys/verify-u2f-registration.ts'
import { setSession } from '../operations/session/set-session.ts'

beforeAll(() => openWorld(), 60_000)
afterEach(async () => {
  await shiftClock(users.sql, '0')
  await allow({ allowPasskeys: true })
})
afterAll(closeWorld)

/** A call of a login application, which has no permission on people. */
const byLogin = (userId = 'login') => ({
  ...call(),
  caller: { ...call().caller, userId, human: false, organizationId: 'other', instanceRoles: ['IAM_LOGIN_CLIENT'] },
})
type Session = { sessionId: string; sessionToken: string }
type Code = { id: string; code: string }

const begin = ({ userName }: Person, login = byLogin()): Promise<Session> =>
  createSession.handle(users, { loginName: userName, userId: '', password: '', lifetime: undefined }, login)

async function signIn(person: Person, login = byLogin(), begun?: Session) {
  const { sessionId, sessionToken } = begun ?? (await begin(person, login))
  const password = `${person.userName}-password`
  const request = { sessionId, sessionToken, password, otpEmailCode: '', lifetime: undefined }
  return { sessionId, ...(await setSession.handle(users, request, login)) }
}

const returnCode = { $case: 'returnCode', value: {} } as const
const codeOf = async ({ userId }: Person, as = byLogin()): Promise<Code> =>
  (await link.handle(users, { userId, medium: returnCode }, as)).code!
const beginPasskey = ({ userId }: Person, code: Code, as = byLogin()) =>
  registerPasskey.handle(users, { userId, code, authenticator: 0, domain: '' }, as)
const beginKey = ({ userId }: Person, as = byLogin()) => registerU2F.handle(users, { userId, domain: '' }, as)

async function endPasskey({ userId }: Person, begun: Awaited<ReturnType<typeof beginPasskey>>, as = byLogin()) {
  const publicKeyCredential = new Authenticator(origin).create(optionsOf(begun))
  const made = { userId, passkeyId: begun.passkeyId, publicKeyCredential, passkeyName: '' }
  return reasonOf(verifyPasskeyRegistration.handle(users, made, as))
}

async function endKey({ userId }: Person, begun: Awaited<ReturnType<typeof beginKey>>, as = byLogin()) {
  const publicKeyCredential = new Authenticator(origin).create(optionsOf(begun), { uv: false })
  const made = { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' }
  return reasonOf(verifyU2FRegistration.handle(users, made, as))
}

/** What a login application begins for a person, and how that ends. */
async function tries(person: Person, as = byLogin()): Promise<string[]> {
  return [await reasonOf(codeOf(person, as)), await reasonOf(beginKey(person, as))]
}
const notFresh = 'FACTOR_NOT_FRESH'
const { SECOND_FACTOR_TYPE_OTP: app, SECOND_FACTOR_TYPE_U2F: key } = SecondFactorType

test('a login application adds a passkey and a security key in a sign-in there, and no trace says that it saw a code', async () => {
  const person = await newPerson()
  // Above those of the login application, and of whoever set the address.
  roles[person.userId] = ['IAM_OWNER']
  await signIn(person)
  const code = await codeOf(person)
  expect(await endPasskey(person, await beginPasskey(person, code))).toBe('in')
  expect(await reasonOf(beginPasskey(person, code))).toBe('CODE_INVALID')
  expect(await endKey(person, await beginKey(person))).toBe('in')
  const { passkeys } = await listPasskeys(users, person)
  expect(passkeys.map(({ secondOnly }) => secondOnly)).toEqual([false, true])
  const stored = (await users.store.load<{ human: { passkeys: object[] } }>('user', person.userId))!.state.human
  for (const passkey of stored.passkeys) expect(passkey).not.toHaveProperty('setBy')
  // The session lacks the key that the person has now.
  expect(await tries(person)).toEqual([notFresh, notFresh])
})

test('none is added without a session there whose first factor was checked of late', async () => {
  const person = await newPerson()
  const refused = [await tries(person), await tries({ ...person, userId: 'unknown' })]
  const halfDone = await begin(person)
  refused.push(await tries(person))
  await signIn(person, byLogin('other login'))
  await signedIn(person)
  await signIn(await newPerson())
  refused.push(await tries(person))
  const begun = await signIn(person, byLogin(), halfDone)
  expect(await tries(person)).toEqual(['in', 'in'])
  await shiftClock(users.sql, '11 minutes')
  refused.push(await tries(person))
  await shiftClock(users.sql, '0')
  await deleteSession.handle(users, begun, byLogin())
  refused.push(await tries(person))
  expect(refused.flat()).toEqual(Array(12).fill(notFresh))
})

test('what was begun ends with the session, after ten minutes, and at the same login application alone', async () => {
  const person = await newPerson()
  const others = byLogin('other login')
  const [begun] = [await signIn(person), await signIn(person, others)]
  const code = await codeOf(person)
  expect(await reasonOf(beginPasskey(person, code, others))).toBe('CODE_INVALID')
  expect(await reasonOf(beginPasskey(person, code, by(await newPerson(), '')))).toBe('CODE_INVALID')
  const [passkey, key] = [await beginPasskey(person, code), await beginKey(person)]
  expect(await endPasskey(person, passkey, others)).toBe('PASSKEY_CHALLENGE_OVER')
  expect(await endKey(person, key, others)).toBe('PASSKEY_CHALLENGE_OVER')
  expect(await endKey(person, key, by(await newPerson(), ''))).toBe('PASSKEY_CHALLENGE_OVER')
  await shiftClock(users.sql, '601 seconds')
  await signIn(person)
  expect(await reasonOf(beginPasskey(person, code))).toBe('CODE_INVALID')
  await shiftClock(users.sql, '0')
  await deleteSession.handle(users, begun, byLogin())
  await users.sql`delete from tokens where user_id = ${person.userId} and session_id <> ''`
  expect(await reasonOf(beginPasskey(person, code))).toBe(notFresh)
  expect([await endPasskey(person, passkey), await endKey(person, key)]).toEqual([notFresh, notFresh])
  expect((await listPasskeys(users, person)).passkeys).toEqual([])
})

test('who must have a second factor and has none sets a security key up in the sign-in, and who has one does not', async () => {
  const person = await newPerson()
  for (const types of [[app, key], [key]]) {
    await allow({ allowPasskeys: true, forceMfa: true, secondFactors: { types } })
    const newcomer = await newPerson()
    expect((await signIn(newcomer)).missingFactors.length).toBeGreaterThan(0)
    expect(await endKey(newcomer, await beginKey(newcomer))).toBe('in')
    expect(await tries(newcomer)).toEqual([notFresh, notFresh])
  }
  await allow({ allowPasskeys: true, forceMfa: true, secondFactors: { types: [app] } })
  await signIn(person)
  expect(await tries(person)).toEqual([notFresh, notFresh])
  await allow({ allowPasskeys: true, forceMfa: true })
  await addApp(users, { ...person, email: '' })
  await signIn(person)
  expect(await tries(person)).toEqual([notFresh, notFresh])
})

test('it takes no link of an administrator away, and stands for none', async () => {
  const person = await newPerson()
  const code = await codeOf(person, call())
  await signIn(person)
  const own = await codeOf(person)
  expect(await endPasskey(person, await beginPasskey(person, own))).toBe('in')
  expect(await endPasskey(person, await beginPasskey(person, code, call()))).toBe('PASSKEY_CHALLENGE_OVER')
  const again = call()
  expect(await endPasskey(person, await beginPasskey(person, code, again), again)).toBe('in')
})

test('it gets no link mailed, and others neither code nor key', async () => {
  const person = await newPerson()
  await signIn(person)
  const permit = (medium: typeof returnCode | undefined, holds: boolean) =>
    reasonOf(link.permit({ userId: person.userId, medium }, byLogin(), holds, users))
  expect([await permit(returnCode, false), await permit(undefined, false)]).toEqual(['in', 'PERMISSION_DENIED'])
  const stranger = { ...byLogin(), caller: { ...byLogin().caller, instanceRoles: [] } }
  expect(await reasonOf(beginKey(person, stranger))).toBe('PERMISSION_DENIED')
})
