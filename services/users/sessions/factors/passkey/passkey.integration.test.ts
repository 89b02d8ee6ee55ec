import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UserVerificationRequirement } from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { CodeError } from '#gen/roster/users/v1/sign_in_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { shiftClock } from '#test/support/shift-clock'
import { createSession } from '../../operations/session/create-session.ts'
import { generateRecoveryCodes } from '../../operations/factors/generate-recovery-codes.ts'
import { getSession } from '../../operations/session/get-session.ts'
import { listAuthenticationMethodTypes } from '../../operations/factors/list-authentication-method-types.ts'
import { createPasskeyRegistrationLink } from '../../operations/passkeys/create-passkey-registration-link.ts'
import { listPasskeys } from '../../operations/passkeys/list-passkeys.ts'
import { registerPasskey } from '../../operations/passkeys/register-passkey.ts'
import { registerU2F } from '../../operations/passkeys/register-u2f.ts'
import { removePasskey, removeU2F } from '../../operations/passkeys/remove.ts'
import { verifyPasskeyRegistration } from '../../operations/passkeys/verify-passkey-registration.ts'
import { verifyU2FRegistration } from '../../operations/passkeys/verify-u2f-registration.ts'
import { registerTOTP } from '../../operations/factors/register-totp.ts'
import { setSession } from '../../operations/session/set-session.ts'
import { removePasskey as remove, renamePasskey } from '../../passkeys/change.ts'
import { signInBy } from '../../../testing/test-users.ts'
import { Authenticator, bogusKeys, type Lies, type RequestOptions } from './testing/authenticator.ts'
import {
  allow,
  by,
  call,
  closeWorld,
  holder,
  newPerson,
  openWorld,
  optionsOf,
  origin,
  type Person,
  reasonOf,
  register,
  roles,
  signedIn,
  users,
  Visitor,
  withPasskey,
} from './testing/world.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)

const {
  AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: byMail,
  AUTHENTICATION_METHOD_TYPE_PASSWORD: byPassword,
  AUTHENTICATION_METHOD_TYPE_PASSKEY: byPasskey,
} = AuthenticationMethodType
const { USER_VERIFICATION_REQUIREMENT_REQUIRED: required, USER_VERIFICATION_REQUIREMENT_DISCOURAGED: discouraged } =
  UserVerificationRequirement

type Session = { sessionId: string; sessionToken: string }

const set = ({ sessionId, sessionToken }: Session, given: object) =>
  setSession.handle(
    users,
    { sessionId, sessionToken, password: '', otpEmailCode: '', lifetime: undefined, ...given },
    call(),
  )
const begin = ({ userId }: Person) =>
  createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
const challenge = async (session: Session, userVerificationRequirement: UserVerificationRequirement = required) => {
  const { challenges } = await set(session, { webAuthN: { domain: 'localhost', userVerificationRequirement } })
  const { publicKeyCredentialRequestOptions: options } = challenges!.webAuthN!
  return (options as { publicKey: RequestOptions & { allowCredentials: { id: string; transports: string[] }[] } })
    .publicKey
}
const check = (session: Session, credentialAssertionData: object) => set(session, { credentialAssertionData })

describe('a new passkey', () => {
  const long = Buffer.alloc(1023, 1)
  const lies: [string, Lies, string][] = [
    ['another origin', { origin: 'https://evil.example' }, 'PASSKEY_INVALID'],
    ['another domain', { rpId: 'evil.example' }, 'PASSKEY_INVALID'],
    ['a page in a frame of another site', { crossOrigin: true }, 'PASSKEY_INVALID'],
    ['the site around it', { topOrigin: 'https://evil.example' }, 'PASSKEY_INVALID'],
    ['an assertion', { type: 'webauthn.get' }, 'PASSKEY_INVALID'],
    ['a challenge of its own', { challenge: Buffer.alloc(40, 7).toString('base64url') }, 'PASSKEY_CHALLENGE_OVER'],
    ['nobody present', { up: false }, 'PASSKEY_INVALID'],
    ['a person who was not verified', { uv: false }, 'PASSKEY_UNVERIFIED'],
    ['an algorithm that was not offered', { algorithm: -35 }, 'PASSKEY_INVALID'],
    ['a copy of what cannot be copied', { be: false, bs: true }, 'PASSKEY_INVALID'],
    ['another id than it signs', { id: Buffer.alloc(16, 3).toString('base64url') }, 'PASSKEY_INVALID'],
    ['an id that is too long', { credentialId: Buffer.alloc(1024, 1) }, 'PASSKEY_INVALID'],
    ['a chain of certificates', { format: 'packed', certificates: true }, 'PASSKEY_INVALID'],
    ['a form of attestation that is read nowhere', { format: 'tpm' }, 'PASSKEY_INVALID'],
    ...bogusKeys.map(([name, coseKey]): [string, Lies, string] => [name, { coseKey }, 'PASSKEY_INVALID']),
  ]
  test.each(lies)('is refused that says: %s', async (_name, lie, reason) => {
    const person = await newPerson()
    expect(await reasonOf(register(person, new Authenticator(origin), lie))).toBe(reason)
    expect((await listPasskeys(users, person)).passkeys).toEqual([])
  })

  test('has an id of up to 1,023 bytes, and is one person’s alone', async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    const authenticator = new Authenticator(origin, long)
    const { passkeyId } = await register(person, authenticator)
    expect(await reasonOf(register(other, new Authenticator(origin, long)))).toBe('PASSKEY_EXISTS')
    expect(await reasonOf(register(person, new Authenticator(origin, long)))).toBe('PASSKEY_EXISTS')
    await removePasskey.handle(users, { ...person, passkeyId }, call())
    await register(other, new Authenticator(origin, long))
  })

  test('comes from its challenge once, within five minutes, from who began it', async () => {
    const person = await newPerson()
    const { userId } = person
    const caller = await signedIn(person)
    const start = () => registerPasskey.handle(users, { userId, code: undefined, authenticator: 0, domain: '' }, caller)
    const end = async (begun: Awaited<ReturnType<typeof start>>, from = caller, passkeyId = begun.passkeyId) =>
      reasonOf(
        verifyPasskeyRegistration.handle(
          users,
          {
            userId,
            passkeyId,
            publicKeyCredential: new Authenticator(origin).create(optionsOf(begun)),
            passkeyName: '',
          },
          from,
        ),
      )
    const begun = await start()
    expect(await end(begun, await signedIn(person))).toBe('PASSKEY_CHALLENGE_OVER')
    expect(await end(begun, call())).toBe('PASSKEY_CHALLENGE_OVER')
    expect(await end(begun, caller, 'another')).toBe('PASSKEY_CHALLENGE_OVER')
    expect(await end(begun)).toBe('in')
    expect(await end(begun)).toBe('PASSKEY_CHALLENGE_OVER')
    const twice = await start()
    expect((await Promise.all([end(twice), end(twice)])).toSorted()).toEqual(['PASSKEY_CHALLENGE_OVER', 'in'])
    const late = await start()
    await shiftClock(users.sql, '301 seconds')
    expect(await end(late)).toBe('PASSKEY_CHALLENGE_OVER')
    await shiftClock(users.sql, '0 seconds')
  })

  test('needs a first factor of the last ten minutes, of the own session', async () => {
    const person = await newPerson()
    const { userId } = person
    const start = (from: ReturnType<typeof by>) =>
      reasonOf(registerPasskey.handle(users, { userId, code: undefined, authenticator: 0, domain: '' }, from))
    const caller = await signedIn(person)
    expect(await start(caller)).toBe('in')
    expect(await start(by(person, ''))).toBe('FACTOR_NOT_FRESH')
    const other = await newPerson()
    expect(await start(by(person, (await signedIn(other)).caller.sessionId))).toBe('FACTOR_NOT_FRESH')
    const { passkeyId } = await register(person, new Authenticator(origin), {}, caller)
    await shiftClock(users.sql, '601 seconds')
    expect(await start(caller)).toBe('FACTOR_NOT_FRESH')
    expect(await reasonOf(removePasskey.handle(users, { userId, passkeyId }, caller))).toBe('FACTOR_NOT_FRESH')
    await shiftClock(users.sql, '0 seconds')
    expect(await start(call())).toBe('PERMISSION_DENIED')
  })

  test('is made for a handle that is random, and the same for all of a person', async () => {
    const person = await newPerson()
    const first = await register(person, new Authenticator(origin))
    const second = await register(person, new Authenticator(origin), {}, first.caller)
    const handles = [first, second].map(({ begun }) => optionsOf(begun).user.id)
    expect(handles[0]).toBe(handles[1])
    expect(Buffer.from(handles[0]!, 'base64url')).toHaveLength(32)
    expect(handles[0]).not.toContain(person.userId)
    expect(optionsOf(second.begun)).toMatchObject({
      attestation: 'none',
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: first.publicKeyCredential['id'], transports: ['internal', 'hybrid'] }],
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
      extensions: { credProps: true },
    })
  })

  test('is one of twenty at most', async () => {
    const person = await newPerson()
    const caller = await signedIn(person)
    const { userId } = person
    const start = () => registerPasskey.handle(users, { userId, code: undefined, authenticator: 0, domain: '' }, caller)
    const early = await start()
    for (let n = 0; n < 20; n++) await register(person, new Authenticator(origin), {}, caller)
    expect(await reasonOf(start())).toBe('PASSKEYS_FULL')
    const publicKeyCredential = new Authenticator(origin).create(optionsOf(early))
    const made = { userId, passkeyId: early.passkeyId, publicKeyCredential, passkeyName: '' }
    expect(await reasonOf(verifyPasskeyRegistration.handle(users, made, caller))).toBe('PASSKEYS_FULL')
  })

  test('is told by mail, as its removal is', async () => {
    const { person, passkeyId } = await withPasskey()
    await removePasskey.handle(users, { userId: person.userId, passkeyId }, call())
    const mails = await users.sql<{ kind: string }[]>`
      select kind from unsent_mails where user_id = ${person.userId} order by requested_at
    `
    expect(mails.map(({ kind }) => kind)).toEqual(['passkey-added', 'passkey-removed'])
  })
})

test('stays where it is the only way in, and the refusal says what would bring the person back', async () => {
  const { person, passkeyId } = await withPasskey()
  const { userId } = person
  await users.sql`delete from passwords where user_id = ${userId}`
  const remove = async () => {
    const thrown: unknown = await removePasskey
      .handle(users, { userId, passkeyId }, call())
      .catch((error: unknown) => error)
    return thrown instanceof RosterError ? [thrown.reason, thrown.metadata] : 'removed'
  }
  expect(await remove()).toEqual(['LAST_FACTOR', { recovery: 'mail' }])
  await allow({ allowPasskeys: true, hidePasswordReset: true })
  expect(await remove()).toEqual(['LAST_FACTOR', { recovery: 'none' }])
  await allow({ allowPasskeys: true, allowMailedCodes: true })
  expect(await remove()).toBe('removed')
  await allow({ allowPasskeys: true })
})

test('is removed however many mails told of others, and renamed no more often than the person is told', async () => {
  const { person, passkeyId } = await withPasskey()
  const { userId } = person
  const rename = (name: string) =>
    reasonOf(renamePasskey(users, { userId, passkeyId, name }, { ...call(), caller: { ...call().caller, userId } }))
  let renamed = 0
  while ((await rename(`name ${renamed}`)) === 'in') renamed++
  expect(renamed).toBe(99)
  expect(await rename('another')).toBe('MAILS_THROTTLED')
  const own = { ...call(), caller: { ...call().caller, userId } }
  await remove(users, { userId, passkeyId }, own)
  expect((await listPasskeys(users, person)).passkeys).toEqual([])
})

describe('a session by the API', () => {
  test('opens by a passkey whose device made sure of the person, and needs no second factor then', async () => {
    await allow({ allowPasskeys: true, forceMfa: true })
    const { person, authenticator } = await withPasskeyUnderMfa()
    const half = await begin(person)
    expect(half.missingFactors).toEqual([byPassword, byPasskey])
    const asked = await challenge(half)
    expect(asked).toMatchObject({ rpId: 'localhost', allowCredentials: [{ id: authenticator.id }] })
    const whole = await check(half, authenticator.get(asked))
    expect(whole.missingFactors).toEqual([])
    expect(await holder(whole)).toBe('in')
    const { session } = await getSession(users, { sessionId: half.sessionId })
    expect(session!.factors!.webAuthN).toEqual({ verifiedAt: expect.any(Date), userVerified: true })
    await allow({ allowPasskeys: true })
  })

  test('that began with a passkey is asked for it again once its time as a second factor is over, and still began with it', async () => {
    const { person, authenticator } = await withPasskeyUnderMfa()
    await allow({ allowPasskeys: true, forceMfa: true, secondFactorCheckLifetime: { seconds: 60, nanos: 0 } })
    try {
      const half = await begin(person)
      const whole = { ...half, ...(await check(half, authenticator.get(await challenge(half)))) }
      expect(await holder(whole)).toBe('in')
      await shiftClock(users.sql, '70 seconds')
      expect(await holder(whole)).toBe('TOKEN_INVALID')
      const asked = await challenge(whole, discouraged)
      expect(await reasonOf(check(whole, authenticator.get(asked, { uv: false })))).toBe('PASSKEY_UNVERIFIED')
      const again = { ...half, ...(await check(whole, authenticator.get(await challenge(whole, discouraged)))) }
      expect([again.missingFactors, await holder(again)]).toEqual([[], 'in'])
      const [{ state }] = [(await users.store.load<{ factors: object[] }>('session', half.sessionId))!]
      expect(state.factors).toEqual([{ kind: 'passkey', at: expect.any(String), userVerified: true }])
    } finally {
      await shiftClock(users.sql, '0')
      await allow({ allowPasskeys: true })
    }
  })

  test('takes a passkey without that beside a password alone', async () => {
    await allow({ allowPasskeys: true, forceMfa: true })
    const { person, authenticator } = await withPasskeyUnderMfa()
    const half = await begin(person)
    expect(await reasonOf(challenge(half, discouraged))).toBe('FACTOR_NOT_AVAILABLE')
    const asked = await challenge(half)
    expect(await reasonOf(check(half, authenticator.get(asked, { uv: false })))).toBe('PASSKEY_UNVERIFIED')
    const partial = { sessionId: half.sessionId, ...(await set(half, { password: `${person.userName}-password` })) }
    expect(partial.missingFactors).toEqual([byPasskey, byMail])
    const before = (await getSession(users, { sessionId: half.sessionId })).session!.expirationDate
    const whole = await check(partial, authenticator.get(await challenge(partial, discouraged), { uv: false }))
    expect(whole.missingFactors).toEqual([])
    expect(whole.expirationDate).toEqual(before)
    const { session } = await getSession(users, { sessionId: half.sessionId })
    expect(session!.factors!.webAuthN).toMatchObject({ userVerified: false })
    await allow({ allowPasskeys: true })
  })

  // With the policy, they would have to be whole before they add one.
  async function withPasskeyUnderMfa() {
    await allow({ allowPasskeys: true })
    const made = await withPasskey()
    await allow({ allowPasskeys: true, forceMfa: true })
    return made
  }

  const lies: [string, Lies, string][] = [
    ['another origin', { origin: 'https://evil.example' }, 'PASSKEY_INVALID'],
    ['another domain', { rpId: 'evil.example' }, 'PASSKEY_INVALID'],
    ['a page in a frame of another site', { crossOrigin: true }, 'PASSKEY_INVALID'],
    ['a registration', { type: 'webauthn.create' }, 'PASSKEY_INVALID'],
    ['a challenge of its own', { challenge: Buffer.alloc(40, 7).toString('base64url') }, 'PASSKEY_CHALLENGE_OVER'],
    ['nobody present', { up: false }, 'PASSKEY_INVALID'],
    ['another text under its signature', { bogus: true }, 'PASSKEY_INVALID'],
    ['that it may be copied, though it never could', { be: true }, 'PASSKEY_INVALID'],
    ['a copy of what cannot be copied', { bs: true }, 'PASSKEY_INVALID'],
    ['another person', { userHandle: Buffer.alloc(32, 1).toString('base64url') }, 'PASSKEY_INVALID'],
    ['an unknown credential', { id: Buffer.alloc(16, 3).toString('base64url') }, 'PASSKEY_UNKNOWN'],
    ['an id in another spelling', { id: `${Buffer.alloc(16, 3).toString('base64url')}=` }, 'PASSKEY_INVALID'],
  ]
  test.each(lies)('refuses an answer that says: %s', async (_name, lie, reason) => {
    const { person, authenticator } = await withPasskey()
    const half = await begin(person)
    expect(await reasonOf(check(half, authenticator.get(await challenge(half), lie)))).toBe(reason)
    expect(await holder(half)).toBe('TOKEN_INVALID')
  })

  test('takes no passkey of another person, and no challenge of another session, a second time, or late', async () => {
    const [own, foreign] = [await withPasskey(), await withPasskey()]
    const [one, other] = [await begin(own.person), await begin(own.person)]
    const asked = await challenge(one)
    expect(await reasonOf(check(one, foreign.authenticator.get(asked)))).toBe('PASSKEY_OF_OTHER')
    expect(await reasonOf(check(other, own.authenticator.get(asked)))).toBe('PASSKEY_CHALLENGE_OVER')
    const whole = { ...one, ...(await check(one, own.authenticator.get(asked))) }
    expect(await reasonOf(check(whole, own.authenticator.get(asked)))).toBe('PASSKEY_CHALLENGE_OVER')
    const late = await challenge(other)
    await shiftClock(users.sql, '301 seconds')
    expect(await reasonOf(check(other, own.authenticator.get(late)))).toBe('PASSKEY_CHALLENGE_OVER')
    await shiftClock(users.sql, '0 seconds')
  })

  test('refuses a counter that does not go forward, with an event, and never compares two zeros', async () => {
    const { person, authenticator, passkeyId } = await withPasskey()
    const sign = async (signCount: number) => {
      const half = await begin(person)
      return reasonOf(check(half, authenticator.get(await challenge(half), { signCount })))
    }
    expect([await sign(0), await sign(0), await sign(5), await sign(6)]).toEqual(['in', 'in', 'in', 'in'])
    expect([await sign(6), await sign(2), await sign(0)]).toEqual(Array(3).fill('PASSKEY_COPIED'))
    expect(await sign(7)).toBe('in')
    // Of two at once with one counter, one is a copy.
    expect((await Promise.all([sign(9), sign(9)])).toSorted()).toEqual(['PASSKEY_COPIED', 'in'])
    const events = await users.sql<{ payload: object }[]>`
      select payload from events
      where aggregate_type = 'user' and aggregate_id = ${person.userId} and type = 'passkey.refused'
    `
    expect(events.map(({ payload }) => payload)).toEqual(events.map(() => ({ passkeyId })))
    expect(events.length).toBeGreaterThanOrEqual(3)
  })

  test('takes no passkey of a link whose code another saw, once the user has roles beyond those of who saw it', async () => {
    const manager = { ...anonymous, userId: 'manager', instanceRoles: ['IAM_USER_MANAGER'] }
    roles['manager'] = ['IAM_USER_MANAGER']
    const opens = async (seer: Call) => {
      const person = await newPerson()
      const { userId } = person
      const medium = { $case: 'returnCode', value: {} } as const
      const { code } = await createPasskeyRegistrationLink.handle(users, { userId, medium }, seer)
      const begun = await registerPasskey.handle(users, { userId, code, authenticator: 0, domain: '' }, call())
      const authenticator = new Authenticator(origin)
      const publicKeyCredential = authenticator.create(optionsOf(begun))
      const made = { userId, passkeyId: begun.passkeyId, publicKeyCredential, passkeyName: '' }
      await verifyPasskeyRegistration.handle(users, made, call())
      const signIn = async () => {
        const half = await begin(person)
        return reasonOf(check(half, authenticator.get(await challenge(half))))
      }
      const before = await signIn()
      roles[userId] = ['IAM_OWNER']
      return [before, await signIn()]
    }
    expect(await opens({ ...call(), caller: manager })).toEqual(['in', 'PASSKEY_UNKNOWN'])
    expect(await opens({ ...call(), caller: { ...manager, userId: 'root', instanceRoles: ['IAM_OWNER'] } })).toEqual([
      'in',
      'in',
    ])
  })

  test('takes no removed passkey, and asks for none where the policy allows none', async () => {
    const { person, authenticator, passkeyId } = await withPasskey()
    const half = await begin(person)
    const asked = await challenge(half)
    await removePasskey.handle(users, { userId: person.userId, passkeyId }, call())
    expect(await reasonOf(check(half, authenticator.get(asked)))).toBe('PASSKEY_UNKNOWN')
    expect(await reasonOf(challenge(half))).toBe('FACTOR_NOT_AVAILABLE')
    const other = await withPasskey()
    const session = await begin(other.person)
    const before = await challenge(session)
    const opened = await begin(other.person)
    const whole = { ...opened, ...(await check(opened, other.authenticator.get(await challenge(opened)))) }
    await allow({ allowPasskeys: false })
    expect(await reasonOf(check(session, other.authenticator.get(before)))).toBe('FACTOR_NOT_AVAILABLE')
    expect(await reasonOf(challenge(session))).toBe('FACTOR_NOT_AVAILABLE')
    // What it opened before counts for nothing, until it is allowed again.
    expect(await holder(whole)).toBe('TOKEN_INVALID')
    await allow({ allowPasskeys: true })
    expect(await holder(whole)).toBe('in')
  })

  test('asks for the one domain, and for a chosen verification', async () => {
    const faults = (webAuthN: object) =>
      setSession
        .check(users, { sessionId: 's', sessionToken: 't', password: '', otpEmailCode: '', webAuthN } as never)
        .map(({ field }) => field)
    expect(faults({ domain: 'localhost', userVerificationRequirement: required })).toEqual([])
    expect(faults({ domain: 'example.com', userVerificationRequirement: 0 })).toEqual([
      'webAuthN.domain',
      'webAuthN.userVerificationRequirement',
    ])
  })

  test('is asked for a security key that its person added as a second factor, whatever the policy', async () => {
    const person = await newPerson()
    const { userId } = person
    const caller = await signedIn(person)
    const key = new Authenticator(origin)
    const begun = await registerU2F.handle(users, { userId, domain: 'localhost' }, caller)
    expect(optionsOf(begun)).toMatchObject({ authenticatorSelection: { residentKey: 'discouraged' } })
    const publicKeyCredential = key.create(optionsOf(begun), { uv: false })
    const made = { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' }
    await verifyU2FRegistration.handle(users, made, caller)
    const half = await begin(person)
    expect(half.missingFactors).toEqual([byPassword, byPasskey])
    // It opens no session.
    expect(await reasonOf(challenge(half))).toBe('FACTOR_NOT_AVAILABLE')
    const partial = { sessionId: half.sessionId, ...(await set(half, { password: `${person.userName}-password` })) }
    expect(partial.missingFactors).toEqual([byPasskey])
    expect(await holder(partial)).toBe('TOKEN_INVALID')
    const whole = await check(partial, key.get(await challenge(partial, discouraged), { uv: false }))
    expect(await holder(whole)).toBe('in')
    // Whoever writes the policy takes away no factor of others.
    await allow({ allowPasskeys: false })
    const next = await signInBy(users, { loginName: person.userName, password: `${person.userName}-password` }, call())
    expect(await holder(next)).toBe('TOKEN_INVALID')
    expect(await reasonOf(challenge(next))).toBe('FACTOR_NOT_AVAILABLE')
    expect(await holder(await check(next, key.get(await challenge(next, discouraged), { uv: false })))).toBe('in')
    await allow({ allowPasskeys: true })
    expect(await reasonOf(removePasskey.handle(users, { userId, passkeyId: begun.u2fId }, call()))).toBe(
      'PASSKEY_NOT_FOUND',
    )
    await removeU2F.handle(users, { userId, u2fId: begun.u2fId }, call())
    expect((await begin(person)).missingFactors).toEqual([byPassword, byPasskey])
    expect((await listAuthenticationMethodTypes(users, person, call())).authMethodTypes).toEqual([byPassword])
  })

  test('by a security key takes recovery codes in its place, which go with it', async () => {
    const person = await newPerson()
    const { userId } = person
    const codes = async () => (await generateRecoveryCodes.handle(users, { userId }, call())).recoveryCodes
    expect(await reasonOf(codes())).toBe('FACTOR_NOT_AVAILABLE')
    const caller = await signedIn(person)
    const begun = await registerU2F.handle(users, { userId, domain: '' }, caller)
    const publicKeyCredential = new Authenticator(origin).create(optionsOf(begun), { uv: false })
    await verifyU2FRegistration.handle(
      users,
      { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' },
      caller,
    )
    const [recoveryCode] = await codes()
    const next = await signInBy(users, { loginName: person.userName, password: `${person.userName}-password` }, call())
    expect(await holder(next)).toBe('TOKEN_INVALID')
    expect(await holder(await set(next, { recoveryCode: recoveryCode! }))).toBe('in')
    await removeU2F.handle(users, { userId, u2fId: begun.u2fId }, call())
    // They would count again with the next factor.
    expect((await listAuthenticationMethodTypes(users, person, call())).authMethodTypes).toEqual([byPassword])
    expect(await users.sql`select from recovery_codes where user_id = ${userId}`).toHaveLength(0)
  })

  test('sets up no app in a sign-in that demands one, where its person has a security key of their own', async () => {
    const person = await newPerson()
    const { userId } = person
    const caller = await signedIn(person)
    const begun = await registerU2F.handle(users, { userId, domain: '' }, caller)
    const publicKeyCredential = new Authenticator(origin).create(optionsOf(begun))
    await verifyU2FRegistration.handle(
      users,
      { userId, u2fId: begun.u2fId, publicKeyCredential, tokenName: '' },
      caller,
    )
    // Nor by a session that a gateway knew before.
    expect(await reasonOf(registerTOTP.handle(users, { userId }, caller))).toBe('FACTOR_NOT_FRESH')
    const apps = { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP] }
    await allow({ forceMfa: true, secondFactors: apps })
    const visitor = new Visitor(users)
    const page = await visitor.signIn(await visitor.begin(), person.userName)
    expect(page.answer).toMatchObject({
      $case: 'totpSetUp',
      value: { secret: undefined, error: CodeError.CODE_ERROR_NOT_SET_UP },
    })
    await allow({ allowPasskeys: true })
  })
})
