import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { AuthenticationMethodType as Method } from '#gen/roster/users/v1/user_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { deriveCode } from '../../../directory/email/code.ts'
import { deleteUser } from '../../../directory/operations/user/delete-user.ts'
import { setPassword } from '../../../directory/operations/password/set-password.ts'
import { hashToken } from '../../../directory/tokens/token.ts'
import { authenticate } from '../../../internal/authenticate.ts'
import { passwordReset } from '../../../pages/recovery/password-reset.ts'
import { openUsers, serveDomains, type TestUsers } from '../../../testing/test-users.ts'
import { addOTPEmail, removeOTPEmail } from '../../operations/factors/otp-email.ts'
import { generateRecoveryCodes } from '../../operations/factors/generate-recovery-codes.ts'
import { getSession } from '../../operations/session/get-session.ts'
import { listAuthenticationMethodTypes } from '../../operations/factors/list-authentication-method-types.ts'
import { createPasskeyRegistrationLink } from '../../operations/passkeys/create-passkey-registration-link.ts'
import { registerTOTP } from '../../operations/factors/register-totp.ts'
import { removeRecoveryCodes } from '../../operations/factors/remove-recovery-codes.ts'
import { removeTOTP } from '../../operations/factors/remove-totp.ts'
import { verifyTOTPRegistration } from '../../operations/factors/verify-totp-registration.ts'
import {
  addApp,
  App,
  by,
  call,
  newPerson as person,
  type Person,
  reasonOf,
  type Session,
  set as setIn,
  setPolicy,
  signIn as signInAt,
} from '../testing/second-factors.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({}, { owner: ['IAM_OWNER'] })
  users = await openUsers(database.urls.users)
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})
beforeEach(() => setPolicy(users, {}))
afterEach(() => shiftClock(users.sql, '0 seconds'))

const newPerson = () => person(users)
const signIn = (one: Person, password?: string) => signInAt(users, one, password)
const set = (session: Session, given: Parameters<typeof setIn>[2]) => setIn(users, session, given)
const holder = ({ sessionToken }: Pick<Session, 'sessionToken'>) =>
  reasonOf(authenticate(users, { tokenHash: hashToken(sessionToken) }, call()))
const methodsOf = async ({ userId }: Person) =>
  (await listAuthenticationMethodTypes(users, { userId }, call())).authMethodTypes
const { AUTHENTICATION_METHOD_TYPE_PASSWORD: password, AUTHENTICATION_METHOD_TYPE_TOTP: byApp } = Method
const { AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: byMail, AUTHENTICATION_METHOD_TYPE_RECOVERY_CODE: byCode } = Method
const mailsOf = async ({ userId }: Person) =>
  (
    await users.sql<
      { kind: string }[]
    >`select kind from unsent_mails where user_id = ${userId} order by requested_at, kind`
  ).map(({ kind }) => kind)
const makeCodes = async ({ userId }: Person) =>
  (await generateRecoveryCodes.handle(users, { userId }, call())).recoveryCodes

describe('an authenticator app', () => {
  test('is a factor once a code of it was checked, and from then on its next code alone opens the session', async () => {
    const own = await newPerson()
    const before = await signIn(own)
    const { uri, secret } = await registerTOTP.handle(users, { userId: own.userId }, call())
    expect(uri).toContain(secret)
    const other = new App(users, secret)
    expect([await methodsOf(own), await holder(before)]).toEqual([[password], 'in'])
    const as = call()
    // Another call of the same caller.
    const verify = (code: string) => reasonOf(verifyTOTPRegistration.handle(users, { userId: own.userId, code }, as))
    expect(await verify(await other.wrong())).toBe('CODE_INVALID')
    const used = await other.code()
    expect(await verify(used)).toBe('in')
    expect(await mailsOf(own)).toEqual(['factor-added'])
    expect([await methodsOf(own), await holder(before)]).toEqual([[password, byApp], 'TOKEN_INVALID'])
    expect(await reasonOf(registerTOTP.handle(users, { userId: own.userId }, call()))).toBe('FACTOR_EXISTS')

    const begun = await signIn(own)
    expect(begun.missingFactors).toEqual([byApp])
    // The one that confirmed it is used up.
    expect(await reasonOf(set(begun, { totpCode: used }))).toBe('CODE_INVALID')
    const next = await other.code(1)
    const whole = await set(begun, { totpCode: ` ${next.slice(0, 3)} ${next.slice(3)}` })
    expect([whole.missingFactors, await holder(whole)]).toEqual([[], 'in'])
    expect((await getSession(users, { sessionId: begun.sessionId })).session!.factors).toMatchObject({
      password: { verifiedAt: expect.any(Date) },
      totp: { verifiedAt: expect.any(Date) },
    })
  })

  test('counts each half minute once, by any session, also of two at a time, and none before the last one', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    await shiftClock(users.sql, '5 minutes')
    const [one, other] = [await signIn(own), await signIn(own)]
    const [former, present] = [await app.code(-1), await app.code()]
    const tries = await Promise.all([one, other].map((session) => reasonOf(set(session, { totpCode: present }))))
    expect(tries.toSorted()).toEqual(['CODE_INVALID', 'in'])
    const third = await signIn(own)
    expect(await reasonOf(set(third, { totpCode: former }))).toBe('CODE_INVALID')
    expect(await reasonOf(set(third, { totpCode: await app.code(2) }))).toBe('CODE_INVALID')
    expect(await reasonOf(set(third, { totpCode: await app.code(1) }))).toBe('in')
  })

  test('is set up by who began it alone, within a quarter of an hour, with ten tries', async () => {
    const own = await newPerson()
    const { userId } = own
    const [first, second] = [by(own, await signIn(own)), by(own, await signIn(own))]
    const mine = new App(users, (await registerTOTP.handle(users, { userId }, first)).secret)
    const thiefs = new App(users, (await registerTOTP.handle(users, { userId }, second)).secret)
    const verify = async (app: App, as: ReturnType<typeof call>, code?: string) =>
      reasonOf(verifyTOTPRegistration.handle(users, { userId, code: code ?? (await app.code()) }, as))
    expect([await verify(thiefs, first), await verify(mine, second), await verify(mine, call())]).toEqual(
      Array(3).fill('CODE_INVALID'),
    )
    for (let n = 0; n < 9; n++) await verify(mine, first, 'x')
    expect(await verify(mine, first)).toBe('CODE_INVALID')
    await shiftClock(users.sql, '14 minutes')
    const again = by(own, await signIn(own))
    const late = new App(users, (await registerTOTP.handle(users, { userId }, again)).secret)
    await shiftClock(users.sql, '30 minutes')
    expect(await verify(late, { ...again, ...by(own, await signIn(own)) })).toBe('CODE_INVALID')
  })

  test('keeps its secret from events and rows, and is gone with its user', async () => {
    const own = await newPerson()
    const { userId } = own
    const { secret } = await registerTOTP.handle(users, { userId }, call())
    const app = new App(users, secret)
    await verifyTOTPRegistration.handle(users, { userId, code: await app.code() }, call())
    const codes = await makeCodes(own)
    const rows = await users.sql<{ row: string }[]>`
      select e::text as row from events e union all select t::text from totp_secrets t union all
      select r::text from recovery_codes r union all select s::text from secrets s
    `
    const text = JSON.stringify(rows)
    const bytes = Buffer.from(app.totp.secret.bytes)
    for (const hidden of [secret, bytes.toString('hex'), bytes.toString('base64'), ...codes])
      expect(text).not.toContain(hidden)
    await deleteUser(users, { userId, forgetNow: true }, call())
    for (const table of ['totp_secrets', 'recovery_codes', 'factor_guesses'])
      expect([table, await users.sql`select from ${users.sql(table)} where user_id = ${userId}`]).toEqual([table, []])
  })

  test('of one person proves nothing of another, even by its row', async () => {
    const [own, other] = [await newPerson(), await newPerson()]
    const app = await addApp(users, own)
    await addApp(users, other)
    await users.sql`
      update totp_secrets set last_step = 0,
        secret = (select secret from totp_secrets where user_id = ${own.userId}) where user_id = ${other.userId}
    `
    const session = await signIn(other)
    await expect(set(session, { totpCode: await app.code(1) })).rejects.toThrow(/authenticate/)
  })

  test('is removed with its recovery codes, and its sessions need it no more', async () => {
    const own = await newPerson()
    const { userId } = own
    const app = await addApp(users, own)
    const [code] = await makeCodes(own)
    const begun = await signIn(own)
    await removeTOTP.handle(users, { userId }, call())
    expect([await methodsOf(own), await holder(begun)]).toEqual([[password], 'in'])
    expect(await reasonOf(removeTOTP.handle(users, { userId }, call()))).toBe('FACTOR_NOT_FOUND')
    for (const given of [{ totpCode: await app.code(1) }, { recoveryCode: code! }])
      expect(await reasonOf(set(begun, given))).toBe('FACTOR_NOT_AVAILABLE')
    expect((await mailsOf(own)).toSorted()).toEqual(['factor-added', 'factor-removed', 'recovery-codes-made'])
    await addApp(users, own)
    const again = await signIn(own)
    expect([again.missingFactors, await reasonOf(set(again, { recoveryCode: code! }))]).toEqual([
      [byApp],
      'FACTOR_NOT_AVAILABLE',
    ])
  })

  test('is asked for, and the mailbox in its place is not enough', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const begun = await signIn(own)
    const { challenges, ...asked } = await set(begun, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })
    expect(asked.missingFactors).toEqual([byApp])
    const mailed = await set(begun, { otpEmailCode: challenges!.otpEmail! })
    const session = { ...begun, ...mailed }
    expect([mailed.missingFactors, await holder(session)]).toEqual([[byApp], 'TOKEN_INVALID'])
    expect(await holder(await set(session, { totpCode: await app.code(1) }))).toBe('in')
    // Who has both chooses.
    await addOTPEmail.handle(users, own, call())
    expect((await signIn(own)).missingFactors).toEqual([byApp, byMail])
    await removeOTPEmail.handle(users, own, call())
  })
})

describe('own second factors', () => {
  test('are changed with a session whose password is fresh, and by no application that has a token', async () => {
    const own = await newPerson()
    const { userId } = own
    const session = await signIn(own)
    const as = by(own, session)
    const changes = [
      () => registerTOTP.handle(users, { userId }, as),
      () => verifyTOTPRegistration.handle(users, { userId, code: '000000' }, as),
      () => removeTOTP.handle(users, { userId }, as),
      () => generateRecoveryCodes.handle(users, { userId }, as),
      () => removeRecoveryCodes.handle(users, { userId }, as),
    ]
    await shiftClock(users.sql, '9 minutes')
    const early = await Promise.all(changes.map((change) => reasonOf(change())))
    expect(early).not.toContain('FACTOR_NOT_FRESH')
    as.caller = { ...as.caller, authorizationId: 'given' }
    const byApplication = await Promise.all(changes.map((change) => reasonOf(change())))
    as.caller = { ...as.caller, authorizationId: undefined }
    await shiftClock(users.sql, '11 minutes')
    const late = await Promise.all(changes.map((change) => reasonOf(change())))
    expect([...byApplication, ...late]).toEqual(Array(10).fill('FACTOR_NOT_FRESH'))
  })

  test('are not added by a password that a mailed code has set, until somebody else vouches for it', async () => {
    const own = await newPerson()
    const { userId, email } = own
    await passwordReset.handle(users, { userId, medium: { $case: 'sendLink', value: {} } } as never, call())
    const state = (await users.store.load<{ codeId: string; keyId: string; expiresAt: string }>(
      'user.password.code',
      userId,
    ))!.state
    const value = deriveCode(users.keys, state, userId, email, 'password-code')
    const newPassword = { password: 'renewed password', changeRequired: false }
    await setPassword.handle(
      users,
      { userId, newPassword, verification: { $case: 'verificationCode', value } } as never,
      call(),
    )
    const register = async () =>
      reasonOf(registerTOTP.handle(users, { userId }, by(own, await signIn(own, 'renewed password'))))
    expect(await register()).toBe('FACTOR_NOT_AVAILABLE')
    await setPassword.handle(users, { userId, newPassword, verification: undefined }, call())
    expect(await register()).toBe('in')
  })

  test('are changed by nobody who has less than the person', async () => {
    const { userId } = await newPerson()
    const weak = { ...call(), caller: { ...call().caller, userId: 'weak', instanceRoles: [], organizationRoles: {} } }
    const owner = { userId: 'owner' }
    await users.sql`
      insert into aggregates (type, id, organization_id, sequence, state, changed_at, created_at)
      select type, 'owner', organization_id, sequence, '{"userName": "owner"}', changed_at, created_at from aggregates
      where type = 'user' and id = ${userId}
    `.catch(() => {})
    for (const { permit } of [
      registerTOTP,
      verifyTOTPRegistration,
      removeTOTP,
      generateRecoveryCodes,
      removeRecoveryCodes,
    ]) {
      expect(await reasonOf(permit(owner, weak as never, true, users))).toBe('PERMISSION_DENIED')
      expect(await reasonOf(permit({ userId }, weak as never, true, users))).toBe('in')
    }
  })
})

describe('recovery codes', () => {
  test('are ten that stand for another factor, each once, and new ones replace them', async () => {
    const own = await newPerson()
    expect(await reasonOf(makeCodes(own))).toBe('FACTOR_NOT_AVAILABLE')
    await addApp(users, own)
    const former = await makeCodes(own)
    const codes = await makeCodes(own)
    expect(new Set([...former, ...codes]).size).toBe(20)
    for (const code of codes) expect(code).toMatch(/^([2-9A-HJ-NP-Z]{4}-){3}[2-9A-HJ-NP-Z]{4}$/)
    expect(await methodsOf(own)).toEqual([password, byApp, byCode])
    const begun = await signIn(own)
    expect(begun.missingFactors).toEqual([byApp, byCode])
    expect(await reasonOf(set(begun, { recoveryCode: former[0]! }))).toBe('CODE_INVALID')
    const typed = codes[0]!.toLowerCase().replaceAll('-', ' ')
    const tries = await Promise.all(
      [begun, await signIn(own)].map((session) => reasonOf(set(session, { recoveryCode: typed }))),
    )
    expect(tries.toSorted()).toEqual(['CODE_INVALID', 'in'])
    expect(await mailsOf(own)).toContain('recovery-code-used')
    const next = await signIn(own)
    expect(await reasonOf(set(next, { recoveryCode: codes[0]! }))).toBe('CODE_INVALID')
    expect(await holder(await set(next, { recoveryCode: codes[1]! }))).toBe('in')
    await removeRecoveryCodes.handle(users, own, call())
    expect(await methodsOf(own)).toEqual([password, byApp])
    expect(await reasonOf(removeRecoveryCodes.handle(users, own, call()))).toBe('FACTOR_NOT_FOUND')
  })
})

describe('guesses', () => {
  const count = (reasons: string[], reason: string) => reasons.filter((one) => one === reason).length

  test('at an app are five within ten minutes, at once or not, and twenty a day; recovery codes count apart', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const [code] = await makeCodes(own)
    const sessions = await Promise.all([signIn(own), signIn(own), signIn(own)])
    const wrong = await app.wrong()
    const tries = await Promise.all(
      Array.from({ length: 60 }, (_, n) => reasonOf(set(sessions[n % 3]!, { totpCode: wrong }))),
    )
    expect([count(tries, 'CODE_INVALID'), count(tries, 'FACTOR_THROTTLED')]).toEqual([5, 55])
    expect(await reasonOf(set(sessions[0], { totpCode: await app.code(1) }))).toBe('FACTOR_THROTTLED')
    expect(await reasonOf(set(sessions[0], { recoveryCode: code! }))).toBe('in')
    for (const [minutes, most] of [
      [11, 5],
      [22, 5],
      [33, 5],
      [44, 0],
    ] as const) {
      await shiftClock(users.sql, `${minutes} minutes`)
      const later = await signIn(own)
      const tried: string[] = []
      for (let n = 0; n < 6; n++) tried.push(await reasonOf(set(later, { totpCode: 'x' })))
      expect([minutes, count(tried, 'CODE_INVALID')]).toEqual([minutes, most])
    }
  })

  test('tell the person at the fifth that somebody knows the password, once a day', async () => {
    const own = await newPerson()
    await addApp(users, own)
    const session = await signIn(own)
    const guess = () => set(session, { totpCode: 'x' }).catch(() => {})
    for (let n = 0; n < 4; n++) await guess()
    expect(await mailsOf(own)).not.toContain('factor-guessed')
    await guess()
    expect(count(await mailsOf(own), 'factor-guessed')).toBe(1)
    await shiftClock(users.sql, '11 minutes')
    const later = await signIn(own)
    for (let n = 0; n < 5; n++) await set(later, { totpCode: 'x' }).catch(() => {})
    expect(count(await mailsOf(own), 'factor-guessed')).toBe(1)
  })

  test('are a hundred since the last right one; then another factor helps, or an administrator', async () => {
    const own = await newPerson()
    const { userId } = own
    const app = await addApp(users, own)
    const [code] = await makeCodes(own)
    const wrongSoFar = (wrong: number) => users.sql`
      insert into factor_guesses (user_id, kind, browser_id, wrong) values (${userId}, 'totp', '', ${wrong})
      on conflict (user_id, kind, browser_id) do update set wrong = excluded.wrong
    `
    await wrongSoFar(99)
    const session = await signIn(own)
    expect(await reasonOf(set(session, { totpCode: 'x' }))).toBe('CODE_INVALID')
    expect(await reasonOf(set(session, { totpCode: 'x' }))).toBe('FACTOR_LOCKED')
    expect(await reasonOf(set(session, { totpCode: await app.code(1) }))).toBe('FACTOR_LOCKED')
    expect(await reasonOf(set(session, { recoveryCode: code! }))).toBe('in')
    await removeTOTP.handle(users, own, call())
    const next = await addApp(users, own)
    expect(await reasonOf(set(await signIn(own), { totpCode: await next.code(1) }))).toBe('in')
    await wrongSoFar(99)
    // A right one begins anew.
    await shiftClock(users.sql, '20 minutes')
    expect(await reasonOf(set(await signIn(own), { totpCode: await next.code() }))).toBe('in')
    const [row] = await users.sql<[{ wrong: number }]>`
      select wrong from factor_guesses where user_id = ${userId} and kind = 'totp' and browser_id = ''
    `
    expect(row.wrong).toBe(0)
  })
})

describe('a policy', () => {
  const [otp, mail] = [SecondFactorType.SECOND_FACTOR_TYPE_OTP, SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL]

  test('says which factors serve where one is demanded, also for living sessions; an organization only narrows it', async () => {
    const own = await newPerson()
    await setPolicy(users, { forceMfa: true })
    const begun = await signIn(own)
    expect(begun.missingFactors).toEqual([byMail])
    const { challenges } = await set(begun, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })
    const whole = { ...begun, ...(await set(begun, { otpEmailCode: challenges!.otpEmail! })) }
    expect(await holder(whole)).toBe('in')
    await setPolicy(users, { forceMfa: true, secondFactors: { types: [otp] } })
    expect([await holder(whole), (await signIn(own)).missingFactors]).toEqual(['TOKEN_INVALID', [byApp]])
    await setPolicy(users, { secondFactors: { types: [mail] } }, 'acme')
    expect((await signIn(own)).missingFactors).toEqual([byApp])
    await setPolicy(users, { forceMfa: true })
    expect((await signIn(own)).missingFactors).toEqual([byMail])
    await setPolicy(users, { secondFactors: { types: [otp] } }, 'acme')
    expect((await signIn(own)).missingFactors).toEqual([byApp])
    await setPolicy(users, {}, 'acme')
  })

  test('asks for a second factor again once its time is over, also in living sessions', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const begun = await signIn(own)
    const whole = { ...begun, ...(await set(begun, { totpCode: await app.code(1) })) }
    const lifetime = (seconds: number) => ({ secondFactorCheckLifetime: { seconds, nanos: 0 } })
    await setPolicy(users, lifetime(240), 'acme')
    await shiftClock(users.sql, '230 seconds')
    expect(await holder(whole)).toBe('in')
    await setPolicy(users, lifetime(200))
    expect(await holder(whole)).toBe('TOKEN_INVALID')
    const again = { ...begun, ...(await set(whole, { totpCode: await app.code() })) }
    expect([again.missingFactors, await holder(again)]).toEqual([[], 'in'])
    await shiftClock(users.sql, '440 seconds')
    expect(await holder(again)).toBe('TOKEN_INVALID')
    await Promise.all([setPolicy(users, {}), setPolicy(users, {}, 'acme')])
    expect(await holder(again)).toBe('in')
  })

  test('that demands a second factor lets nobody else take the last strong one without a link for a new one', async () => {
    const own = await newPerson()
    const app = await addApp(users, own)
    const remove = (as = call()) => reasonOf(removeTOTP.handle(users, { userId: own.userId }, as))
    const back = async () => (await addApp(users, own), undefined)
    await setPolicy(users, { forceMfa: true, allowPasskeys: true })
    expect(await remove()).toBe('LAST_FACTOR')
    expect(await methodsOf(own)).toContain(byApp)
    // The person takes what the next sign-in asks for anew.
    const begun = await signIn(own)
    const whole = { ...begun, ...(await set(begun, { totpCode: await app.code(1) })) }
    expect(await remove(by(own, whole))).toBe('in')
    await back()
    const medium = { $case: 'returnCode' as const, value: {} }
    await createPasskeyRegistrationLink.handle(users, { userId: own.userId, medium }, call())
    expect(await remove()).toBe('in')
    await back()
    // The link ended: nothing stands for the app any more.
    await shiftClock(users.sql, '25 hours')
    expect(await remove()).toBe('LAST_FACTOR')
    // Where no passkeys serve there is no link; where nothing is demanded nothing is lost.
    await setPolicy(users, { allowPasskeys: true })
    expect(await remove()).toBe('in')
    await back()
    await setPolicy(users, { forceMfa: true })
    expect(await remove()).toBe('in')
  })

  test('that does not let a factor serve asks its owner for it where it demands none', async () => {
    const own = await newPerson()
    await addApp(users, own)
    await setPolicy(users, { secondFactors: { types: [mail] } })
    expect((await signIn(own)).missingFactors).toEqual([byApp])
    await setPolicy(users, { forceMfa: true, secondFactors: { types: [mail] } })
    expect((await signIn(own)).missingFactors).toEqual([byMail])
  })
})
