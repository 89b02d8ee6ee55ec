import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SignInDevice, SignInFailureCause } from '#gen/roster/users/v1/session_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { anonymous } from '#lib/rpc/caller'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addOTPEmail } from '../operations/factors/otp-email.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { searchUsers } from '../../directory/operations/find/search-users.ts'
import { deleteUser } from '../../directory/operations/user/delete-user.ts'
import { findCode } from '../../directory/secrets/one-time-codes.ts'
import { addPerson, noteApplication, nothingNewer, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'
import { deleteSession } from '../operations/session/delete-session.ts'
import { searchUserSessions } from '../operations/session/search-user-sessions.ts'
import { searchUserSignInFailures } from '../operations/sign-ins/search-user-sign-in-failures.ts'
import { searchUserSignIns } from '../operations/sign-ins/search-user-sign-ins.ts'
import { setSession } from '../operations/session/set-session.ts'
import { deleteRecords } from './sign-in-records.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
const { AUTHENTICATION_METHOD_TYPE_PASSWORD: byPassword, AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: byCode } =
  AuthenticationMethodType
let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client')
}, 60_000)
afterAll(async () => {
  await users?.stop()
  await grants?.stop()
  await database?.drop()
})

const signInsOf = async (userId: string, more: object = {}, from = users) =>
  searchUserSignIns(from, { userId, limit: 0, cursor: '', withTotal: true, ...more }, callIn('acme'))

/** Signs in as a program does, without a page. */
const signIn = (name: string, { from = users, address = '198.51.100.7', userAgent = firefox } = {}) =>
  signInBy(
    from,
    { loginName: name, password: `${name}-password` },
    { ...callIn(''), caller: anonymous, clientAddress: address, userAgent },
  )

const rowsOf = (userId: string) => users.sql`select * from sign_in_records where user_id = ${userId} order by id`

describe('a sign-in', () => {
  test('is kept with address, browser and session, readable by the key of its person alone', async () => {
    const userId = await addPerson(users, 'ada')
    const { sessionId } = await signIn('ada')
    const { signIns, total } = await signInsOf(userId)
    expect({ signIns, total }).toEqual({
      total: 1,
      signIns: [
        {
          id: expect.any(String),
          signInDate: expect.any(Date),
          factors: [byPassword],
          isPartial: false,
          sessionId,
          isLiving: true,
          idpId: '',
          idpName: '',
          applicationId: '',
          appId: '',
          applicationName: '',
          client: {
            address: '198.51.100.7',
            browser: 'Firefox',
            system: 'Linux',
            device: SignInDevice.SIGN_IN_DEVICE_COMPUTER,
          },
        },
      ],
    })
    const asSession = { userId, limit: 0, cursor: '', withTotal: false }
    const { sessions } = await searchUserSessions(users, asSession, callIn('acme'))
    expect(sessions.map(({ lastSignIn }) => lastSignIn)).toEqual(signIns)
    for (const table of ['sign_in_records', 'events', 'aggregates', 'tokens'])
      expect(JSON.stringify(await users.sql`select * from ${users.sql(table)}`)).not.toMatch(/198\.51\.100\.7|Firefox/)
    await deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))
    expect((await signInsOf(userId)).signIns).toMatchObject([{ sessionId, isLiving: false }])
  })

  test('moved to another person or row is not shown as theirs', async () => {
    const [ada, eve] = [await addPerson(users, 'moved'), await addPerson(users, 'eve')]
    await signIn('moved')
    await signIn('moved', { address: '192.0.2.1' })
    await users.sql`update sign_in_records set client = (
      select client from sign_in_records where user_id = ${ada} order by id limit 1
    ) where user_id = ${ada}`
    expect((await signInsOf(ada)).signIns.map(({ client }) => client?.address)).toEqual([undefined, '198.51.100.7'])
    await users.sql`update sign_in_records set user_id = ${eve} where user_id = ${ada}`
    expect((await signInsOf(eve)).signIns.map(({ client }) => client)).toEqual([undefined, undefined])
  })

  test('on a page names the application', async () => {
    const userId = await addPerson(users, 'billed')
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin(), 'billed')
    await browser.signIn(await browser.begin({ prompt: 'login' }), 'billed')
    const { signIns } = await signInsOf(userId)
    expect(signIns).toMatchObject([
      { applicationId: 'app-client', applicationName: 'App client', client: { address: browser.address, browser: '' } },
      { applicationId: 'app-client', sessionId: signIns[0]!.sessionId },
    ])
  })

  test('whose second factor comes later is one, and lacks it until then', async () => {
    const userId = await addPerson(users, 'twice')
    await addOTPEmail.handle(users, { userId }, callIn('acme'))
    const { sessionId, sessionToken } = await signIn('twice')
    expect((await signInsOf(userId)).signIns).toMatchObject([{ factors: [byPassword], isPartial: true }])
    const asked = { sessionId, sessionToken, password: '', otpEmailCode: '', otpEmail: undefined, lifetime: undefined }
    const { challenges } = await setSession.handle(
      users,
      { ...asked, otpEmail: { delivery: { $case: 'returnCode', value: {} } } },
      callIn('acme'),
    )
    expect(await findCode(users, 'otp-email', { userId, purpose: sessionId, browserId: undefined })).toBeDefined()
    await setSession.handle(users, { ...asked, otpEmailCode: challenges!.otpEmail! }, callIn('acme'))
    expect((await signInsOf(userId)).signIns).toMatchObject([{ factors: [byPassword, byCode], isPartial: false }])
  })

  test('is the last one that a search of users tells, once it is whole', async () => {
    const userId = await addPerson(users, 'lately')
    const last = async () => {
      const queries = [{ query: { $case: 'inUserIdsQuery' as const, value: { userIds: [userId] } } }]
      const asked = { queries, limit: 0, cursor: '', sortingColumn: 0 as const, descending: false, withTotal: false }
      const more = { allOrganizations: false, withFactors: false, withLastSignIn: true }
      return (await searchUsers.handle(users, { ...asked, ...more }, callIn('acme'))).users[0]!.lastSignInDate
    }
    expect(await last()).toBe(undefined)
    await signIn('lately')
    await signIn('lately')
    const [newest] = (await signInsOf(userId)).signIns
    expect(await last()).toEqual(newest!.signInDate)
    await addOTPEmail.handle(users, { userId }, callIn('acme'))
    await signIn('lately')
    expect((await signInsOf(userId)).signIns[0]).toMatchObject({ isPartial: true })
    expect(await last()).toEqual(newest!.signInDate)
  })

  test('is forgotten with its person', async () => {
    const userId = await addPerson(users, 'gone')
    await signIn('gone')
    await deleteUser(users, { userId, forgetNow: false }, callIn('acme'))
    expect(await rowsOf(userId)).toHaveLength(0)
  })
})

describe('failures', () => {
  const failuresOf = async (userId: string, more: object = {}) =>
    searchUserSignInFailures(users, { userId, limit: 0, cursor: '', withTotal: true, ...more }, callIn('acme'))
  const fail = (name: string, clientAddress = '198.51.100.9') =>
    signInBy(
      users,
      { loginName: name, password: 'wrong-password' },
      { ...callIn(''), caller: anonymous, clientAddress },
    ).catch(() => undefined)
  const counted = async (userId: string, more: object = {}) =>
    (await failuresOf(userId, more)).failures.map(({ cause, count }) => [cause, count])
  const {
    SIGN_IN_FAILURE_CAUSE_PASSWORD_WRONG: wrong,
    SIGN_IN_FAILURE_CAUSE_CODE_WRONG: code,
    SIGN_IN_FAILURE_CAUSE_USER_NOT_ACTIVE: notActive,
    SIGN_IN_FAILURE_CAUSE_THROTTLED: throttled,
  } = SignInFailureCause

  test('of a known person are counted by hour and cause, and forgotten with it', async () => {
    const userId = await addPerson(users, 'guessed')
    await addOTPEmail.handle(users, { userId }, callIn('acme'))
    const { sessionId, sessionToken } = await signIn('guessed')
    const asked = { sessionId, sessionToken, password: '', otpEmail: undefined, lifetime: undefined }
    await expect(setSession.handle(users, { ...asked, otpEmailCode: 'WRONG' }, callIn('acme'))).rejects.toThrow()
    for (let tries = 0; tries < 3; tries++) await fail('guessed')
    await expect
      .poll(() => counted(userId), { timeout: 15_000 })
      .toEqual([
        [wrong, 3],
        [code, 1],
      ])
    await shiftClock(users.sql, '2 hours')
    try {
      await fail('guessed')
      await expect
        .poll(() => counted(userId), { timeout: 15_000 })
        .toEqual([
          [wrong, 1],
          [wrong, 3],
          [code, 1],
        ])
    } finally {
      await shiftClock(users.sql, '0 hours')
    }
    const { nextCursor, failures } = await failuresOf(userId, { limit: 1 })
    expect(failures[0]!.hour!.getTime() % 3_600_000).toBe(0)
    expect(await counted(userId, { cursor: nextCursor })).toEqual([
      [wrong, 3],
      [code, 1],
    ])
    await fail('guessed')
    await deleteUser(users, { userId, forgetNow: false }, callIn('acme'))
    await users.failureCounts.stop()
    expect(await users.sql`select from sign_in_failures where user_id = ${userId}`).toHaveLength(0)
  })

  test('also where the person may not sign in, or nothing was checked', async () => {
    const userId = await addPerson(users, 'locked')
    await lockUser(users, { userId }, callIn('acme'))
    // The limits of the other address are full, since the clock was set back.
    for (let tries = 0; tries < 7; tries++) await fail('locked', '192.0.2.10')
    await users.failureCounts.stop()
    expect(await counted(userId)).toEqual([
      [notActive, 5],
      [throttled, 2],
    ])
  })
})

describe('sign-ins', () => {
  test('are found in pages, the newest first, and a thousand of a person are kept', async () => {
    const userId = await addPerson(users, 'often')
    await users.sql`
      insert into sign_in_records (user_id, id, at, session_id, factors, partial, client)
      select ${userId}, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, roster_now(), 's', '{password}', false, ''
      from generate_series(1, 1000) n
    `
    const { sessionId } = await signIn('often')
    const { signIns, total, nextCursor } = await signInsOf(userId, { limit: 2 })
    expect([total, signIns.map((each) => each.sessionId)]).toEqual([1000, [sessionId, 's']])
    const ids = (await signInsOf(userId, { limit: 1000, cursor: nextCursor })).signIns.map(({ id }) => id)
    expect([ids.length, ids[0]!.slice(-4), ids.at(-1)!.slice(-4)]).toEqual([998, '0999', '0002'])
  })

  test('are deleted after so many days, and with 0 none is kept', async () => {
    const userId = await addPerson(users, 'old')
    await signIn('old')
    await users.sql`insert into sign_in_failures values (${userId}, roster_now(), 'throttled', 1)`
    const failures = () => users.sql`select from sign_in_failures where user_id = ${userId}`
    await shiftClock(users.sql, '89 days')
    try {
      await deleteRecords(users)
      expect([(await rowsOf(userId)).length, (await failures()).length]).toEqual([1, 1])
      await shiftClock(users.sql, '90 days')
      await deleteRecords(users)
      expect([(await rowsOf(userId)).length, (await failures()).length]).toEqual([0, 0])
    } finally {
      await shiftClock(users.sql, '0 days')
    }
    await signIn('old')
    const none = await openUsers(database.urls.users, { SIGN_IN_RECORD_DAYS: '0' })
    try {
      await signIn('old', { from: none })
      expect(await rowsOf(userId)).toHaveLength(1)
      await deleteRecords(none)
      expect(await rowsOf(userId)).toHaveLength(0)
    } finally {
      await none.stop()
    }
  })
})
