import { afterAll, beforeAll, expect, test } from 'vitest'
import { UserVerificationRequirement } from '#gen/roster/users/v1/session_service'
import { AuthenticationMethodType as Method } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { User } from '../directory/events/user.ts'
import { changePassword } from '../directory/passwords/change-password.ts'
import { setPassword } from '../directory/operations/password/set-password.ts'
import { Authenticator, type RequestOptions } from './factors/passkey/testing/authenticator.ts'
import {
  by,
  call,
  closeWorld,
  holder,
  newPerson,
  openWorld,
  type Person,
  origin,
  reasonOf,
  roles,
  signedIn,
  users,
  withPasskey,
} from './factors/passkey/testing/world.ts'
import { createSession } from './operations/session/create-session.ts'
import { listAuthenticationMethodTypes } from './operations/factors/list-authentication-method-types.ts'
import { setSession } from './operations/session/set-session.ts'
import { signInBy } from '../testing/test-users.ts'
import { removePasskey } from './passkeys/change.ts'
import { beginRegistration, finishRegistration } from './passkeys/register.ts'

// What was set up in a session that a link opened which counts for nobody with a role. No policy here lists a provider.

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)

const mark = { byLink: true } as const
const passwordOf = ({ userName }: Person) => `${userName}-by-link`

async function addPasskey(person: Person, own: Call) {
  const { userId } = person
  const authenticator = new Authenticator(origin)
  const binding = { for: 'account', browserId: 'b', sessionId: own.caller.sessionId, userId } as const
  const user = (await users.store.load<User>('user', userId))!
  const options = await beginRegistration(users, user, binding, { secondOnly: false })
  const credential = JSON.stringify(authenticator.create(options))
  const made = { userId, credential, name: '', binding, secondOnly: false, isOwn: true, mark }
  const { passkeyId } = await finishRegistration(users, made, own)
  return { authenticator, passkeyId }
}

function choosePassword(person: Person, own: Call) {
  const gone = new RosterError('FAILED_PRECONDITION', 'FACTOR_NOT_FRESH', '')
  const proof = { kind: 'fresh-factor', gone, mark } as const
  const { userId } = person
  return changePassword(users, { userId, newPassword: passwordOf(person), field: 'password', proof }, own)
}

async function enterBy(authenticator: Authenticator, { userId }: Person) {
  const none = { password: '', otpEmailCode: '', lifetime: undefined }
  const half = await createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
  const { USER_VERIFICATION_REQUIREMENT_REQUIRED: userVerificationRequirement } = UserVerificationRequirement
  const webAuthN = { domain: 'localhost', userVerificationRequirement }
  const { challenges } = await setSession.handle(users, { ...half, ...none, webAuthN }, call())
  const { publicKey } = challenges!.webAuthN!.publicKeyCredentialRequestOptions as unknown as {
    publicKey: RequestOptions
  }
  const { sessionId, sessionToken } = half
  const credentialAssertionData = authenticator.get(publicKey)
  const checked = await setSession.handle(users, { sessionId, sessionToken, ...none, credentialAssertionData }, call())
  return { ...checked, sessionId }
}

const enter = (person: Person, password = passwordOf(person)) =>
  signInBy(users, { loginName: person.userName, password }, call())
const methodsOf = async ({ userId }: Person) =>
  (await listAuthenticationMethodTypes(users, { userId }, call())).authMethodTypes

test('a passkey counts for nobody with a role, and again once the role goes', async () => {
  const person = await newPerson()
  const { authenticator } = await addPasskey(person, await signedIn(person))
  const session = await enterBy(authenticator, person)
  expect(await holder(session)).toBe('in')
  roles[person.userId] = ['IAM_OWNER_VIEWER']
  expect(await holder(session)).toBe('TOKEN_INVALID')
  expect(await reasonOf(enterBy(authenticator, person))).toBe('PASSKEY_INVALID')
  expect(await methodsOf(person)).toEqual([Method.AUTHENTICATION_METHOD_TYPE_PASSWORD])
  delete roles[person.userId]
  expect(await holder(session)).toBe('in')
  expect(await holder(await enterBy(authenticator, person))).toBe('in')
})

test('a passkey of the person’s own goes on beside it', async () => {
  const { person, authenticator } = await withPasskey()
  await addPasskey(person, await signedIn(person))
  roles[person.userId] = ['IAM_OWNER_VIEWER']
  expect(await holder(await enterBy(authenticator, person))).toBe('in')
})

test('a password counts for nobody with a role, as a wrong one, and again once the role goes', async () => {
  const person = await newPerson()
  await choosePassword(person, await signedIn(person))
  const session = await enter(person)
  expect(await holder(session)).toBe('in')
  roles[person.userId] = ['IAM_OWNER_VIEWER']
  expect(await holder(session)).toBe('TOKEN_INVALID')
  expect(await reasonOf(enter(person))).toBe('CREDENTIALS_INVALID')
  expect(await methodsOf(person)).toEqual([])
  delete roles[person.userId]
  expect(await holder(session)).toBe('in')
  expect(await reasonOf(enter(person))).toBe('in')
})

test('a password that such a one proves is no better, and one that an administrator sets is', async () => {
  const person = await newPerson()
  const { userId } = person
  await choosePassword(person, await signedIn(person))
  const { sessionId } = await enter(person)
  const change = (password: string, verification: object | undefined, caller: Call) => {
    const request = { userId, newPassword: { password, changeRequired: false }, verification }
    return setPassword.handle(users, request as Parameters<typeof setPassword.handle>[1], caller)
  }
  const [second, third] = [`${person.userName}-second`, `${person.userName}-third`]
  await change(second, { $case: 'currentPassword', value: passwordOf(person) }, by(person, sessionId))
  expect(await reasonOf(enter(person, second))).toBe('in')
  roles[userId] = ['IAM_OWNER_VIEWER']
  expect(await reasonOf(enter(person, second))).toBe('CREDENTIALS_INVALID')
  await change(third, undefined, call())
  expect(await reasonOf(enter(person, third))).toBe('in')
})

test('what does not count is no way in that lets another one go', async () => {
  const { person, passkeyId } = await withPasskey()
  const { userId } = person
  const own = await signedIn(person)
  await choosePassword(person, own)
  await addPasskey(person, own)
  roles[userId] = ['IAM_OWNER_VIEWER']
  expect(await reasonOf(removePasskey(users, { userId, passkeyId }, call()))).toBe('LAST_FACTOR')
  delete roles[userId]
  expect(await reasonOf(removePasskey(users, { userId, passkeyId }, call()))).toBe('in')
})
