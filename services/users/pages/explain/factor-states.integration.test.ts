import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  ExplainSignInRequest,
  SignInFactorState,
  SignInOutcome,
  SignInReason,
} from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { instance } from '#lib/instance'
import { shiftClock } from '#test/support/shift-clock'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { removePasskey } from '../../sessions/operations/passkeys/remove.ts'
import { removeTOTP } from '../../sessions/operations/factors/remove-totp.ts'
import { addOTPEmail } from '../../sessions/operations/factors/otp-email.ts'
import {
  call,
  closeWorld,
  openWorld,
  reasonOf,
  users,
  withPasskey,
} from '../../sessions/factors/passkey/testing/world.ts'
import {
  addApp,
  newPerson,
  type Person,
  set,
  setPolicy,
  signIn,
} from '../../sessions/factors/testing/second-factors.ts'
import { explainSignIn } from './explain-sign-in.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)
beforeEach(() => setPolicy(users, { allowPasskeys: true }))
afterEach(() => shiftClock(users.sql, '0 seconds'))

const nameOf = (numbers: Record<string, unknown>, number: unknown, prefix: string) =>
  Object.keys(numbers)
    .find((name) => numbers[name] === number)!
    .replace(prefix, '')

/** What an explanation says of the next sign-in of a user, with short names. */
async function explain({ userId }: { userId: string }, context = users) {
  const request = { ...ExplainSignInRequest.decode(new Uint8Array()), userId }
  const asking = { ...request, application: { $case: 'clientId', value: 'client' } as const }
  const { nextSignIn } = await explainSignIn.handle(context, asking, call())
  const { outcome, obstacles, asked, factors } = nextSignIn!
  const ofGround = ({ reason }: { reason: SignInReason }) => nameOf(SignInReason, reason, 'SIGN_IN_REASON_')
  const ofMethod = (method: AuthenticationMethodType) =>
    nameOf(AuthenticationMethodType, method, 'AUTHENTICATION_METHOD_TYPE_')
  return {
    outcome: nameOf(SignInOutcome, outcome, 'SIGN_IN_OUTCOME_'),
    obstacles: obstacles.map(ofGround),
    asked: asked.map(({ methods, sentence, ...one }) => [ofGround(one), methods.map(ofMethod), sentence]),
    states: factors.map(({ method, state, asked: isAsked }) =>
      [isAsked ? 'asked' : '', ofMethod(method), nameOf(SignInFactorState, state, 'SIGN_IN_FACTOR_STATE_')]
        .filter(Boolean)
        .join(' '),
    ),
    factors,
    obstacle: obstacles[0],
  }
}

const wrongSoFar = ({ userId }: Person, wrong: number, kind = 'totp', browserId = '') => users.sql`
  insert into factor_guesses (user_id, kind, browser_id, wrong) values (${userId}, ${kind}, ${browserId}, ${wrong})
  on conflict (user_id, kind, browser_id) do update set wrong = excluded.wrong
`

test('a missing factor is named, with who demands it', async () => {
  const person = await newPerson(users)
  expect(await explain(person)).toMatchObject({ outcome: 'SUCCEEDS', asked: [], factors: [] })
  await setPolicy(users, { forceMfa: true, secondFactors: { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP] } })
  expect(await explain(person)).toMatchObject({
    outcome: 'SUCCEEDS',
    asked: [['FACTOR', ['TOTP'], 'The login policy demands a second factor of the user.']],
    states: ['asked TOTP SET_UP_IN_SIGN_IN'],
  })
  await setPolicy(users, {})
  await addApp(users, person)
  expect(await explain(person)).toMatchObject({
    asked: [['FACTOR', ['TOTP'], 'The user has a second factor, and is asked for one in each sign-in.']],
    states: ['asked TOTP READY'],
  })
  await setPolicy(users, { forceMfa: true, secondFactors: { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL] } })
  expect((await explain(person)).states).toEqual(['TOTP NOT_ALLOWED', 'asked OTP_EMAIL READY'])
})

test('a factor is said to wait for its limits, and another one is said to serve meanwhile', async () => {
  const person = await newPerson(users)
  await addApp(users, person)
  const session = await signIn(users, person)
  for (let tried = 0; tried < 5; tried++) await reasonOf(set(users, session, { totpCode: 'x' }))
  const waits = await explain(person)
  expect(waits).toMatchObject({ outcome: 'WAITS', obstacles: ['FACTOR_THROTTLED'], states: ['asked TOTP THROTTLED'] })
  const [factor] = waits.factors
  expect(factor).toMatchObject({ wrongCodes: 5, limit: { most: 5, within: { seconds: 600 } } })
  expect(waits.obstacle!.until).toEqual(factor!.until)
  // As long as a try waits.
  const refused: unknown = await set(users, session, { totpCode: 'x' }).catch((error: unknown) => error)
  const wait = /"retryAfter":(\d+)/.exec(JSON.stringify(refused))?.[1]
  expect(Math.abs((factor!.until!.getTime() - Date.now()) / 1000 - Number(wait))).toBeLessThan(30)
  await addOTPEmail.handle(users, person, call())
  expect(await explain(person)).toMatchObject({
    outcome: 'SUCCEEDS',
    states: ['asked TOTP THROTTLED', 'asked OTP_EMAIL READY'],
  })
})

test('a locked factor is said to be so, until an administrator unlocks the user', async () => {
  const person = await newPerson(users)
  const { userId } = person
  const app = await addApp(users, person)
  expect(await reasonOf(unlockUser(users, { userId }, call()))).toBe('USER_NOT_LOCKED')
  await wrongSoFar(person, 100)
  const session = await signIn(users, person)
  expect(await reasonOf(set(users, session, { totpCode: await app.code(1) }))).toBe('FACTOR_LOCKED')
  const locked = await explain(person)
  expect(locked).toMatchObject({ outcome: 'FAILS', obstacles: ['FACTOR_LOCKED'], states: ['asked TOTP LOCKED'] })
  expect(locked.factors[0]).toMatchObject({ wrongCodes: 100, limit: { most: 100 }, until: undefined })
  expect(locked.factors[0]!.sentence).toContain('UnlockUser')
  await generateRecoveryCodes.handle(users, { userId }, call())
  expect(await explain(person)).toMatchObject({
    outcome: 'SUCCEEDS',
    states: ['asked TOTP LOCKED', 'asked RECOVERY_CODE READY'],
  })
  await unlockUser(users, { userId }, call())
  expect((await explain(person)).states).toEqual(['asked TOTP READY', 'asked RECOVERY_CODE READY'])
  expect(await reasonOf(set(users, session, { totpCode: await app.code(1) }))).toBe('in')
  expect(await reasonOf(unlockUser(users, { userId }, call()))).toBe('USER_NOT_LOCKED')
  await wrongSoFar(person, 100, 'totp', 'browser')
  expect((await explain(person)).states[0]).toBe('asked TOTP LOCKED_IN_BROWSERS')
  await unlockUser(users, { userId }, call())
  const events = await users.sql`
    select type, payload from events where aggregate_type = 'user' and aggregate_id = ${userId} and type like '%unlocked'
  `
  expect(events.map(({ type, payload }) => [type, payload])).toEqual(
    Array.from({ length: 2 }, () => ['factor.unlocked', { kind: 'totp' }]),
  )
})

test('a passkey that cannot serve is said to be so, and why', async () => {
  const { person, passkeyId } = await withPasskey()
  const { userId } = person
  await setPolicy(users, { allowPasskeys: true, forceMfa: true }, instance.id)
  expect((await explain(person)).states[0]).toBe('asked PASSKEY READY')
  const only = { forceMfa: true, secondFactors: { types: [SecondFactorType.SECOND_FACTOR_TYPE_U2F] } }
  await setPolicy(users, { allowPasskeys: true, ...only })
  const elsewhere = { ...users, config: { ...users.config, PASSKEY_RP_ID: 'other.example' } }
  expect(await explain(person, elsewhere)).toMatchObject({
    outcome: 'FAILS',
    obstacles: ['PASSKEY_OTHER_DOMAIN'],
    states: ['asked PASSKEY OTHER_DOMAIN'],
  })
  await setPolicy(users, {})
  expect((await explain(person)).states).toEqual(['PASSKEY NOT_ALLOWED'])
  // Where one is demanded, the last one is taken from nobody.
  await removePasskey.handle(users, { userId, passkeyId }, call())
  await setPolicy(users, { allowPasskeys: true, ...only })
  const removed = await explain(person)
  expect(removed).toMatchObject({ outcome: 'FAILS', states: ['asked PASSKEY REMOVED'] })
  expect(Math.abs(removed.factors[0]!.removedDate!.getTime() - Date.now())).toBeLessThan(60_000)
})

test('a removed app is told with its time', async () => {
  const person = await newPerson(users)
  await addApp(users, person)
  await removeTOTP.handle(users, person, call())
  expect((await explain(person)).states).toEqual(['TOTP REMOVED'])
})
