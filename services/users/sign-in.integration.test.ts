import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../test/infra-database.ts'
import type { RosterError } from '#lib/errors'
import { addHumanUser } from './operations/add-human-user.ts'
import { addMachineUser } from './operations/add-machine-user.ts'
import { createSession } from './operations/create-session.ts'
import { ownerOfUser } from './owners.ts'
import { countAttempt, forgetAttempts } from './sign-in-throttle.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from './test-users.ts'

let [database, other]: TestDatabase[] = []
let [users, elsewhere]: TestUsers[] = []
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  ;[database, other] = await Promise.all([createDatabase(), createDatabase()])
  ;[users, elsewhere] = await Promise.all([openUsers(database.urls.users), openUsers(other.urls.users)])
  domains = await serveDomains({ 'acme.localhost': 'acme', 'umbrella.localhost': 'umbrella' })
})

afterAll(async () => {
  await Promise.all([users?.stop(), elsewhere?.stop(), domains?.stop()])
  await Promise.all([database?.drop(), other?.drop()])
})

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: RosterError) => error.reason,
  )
let address = 0
const fresh = () => `2001:db8::${(address++).toString(16)}`

describe('attempts to sign in', () => {
  const attempt = (name: string, from: string) => countAttempt(users!.sql, name, from)

  test('at one time count too: of ten for one name from one address, five are looked at', async () => {
    const from = fresh()
    const results = await Promise.all(Array.from({ length: 10 }, () => reasonOf(attempt('parallel', from))))
    expect(results.filter((reason) => reason === 'in')).toHaveLength(5)
    expect(results.filter((reason) => reason === 'SIGN_IN_THROTTLED')).toHaveLength(5)
  })

  test('that are refused are told how long to wait', async () => {
    const from = fresh()
    for (let i = 0; i < 5; i++) await attempt('patient', from)
    const error = (await attempt('patient', from).catch((caught: unknown) => caught)) as RosterError
    expect(error).toMatchObject({ code: 8, reason: 'SIGN_IN_THROTTLED' })
    expect(error.retryAfter).toBeGreaterThan(290)
    expect(error.retryAfter).toBeLessThanOrEqual(300)
  })

  test('of one name from another address, and of another name from one address, are others', async () => {
    const from = fresh()
    for (let i = 0; i < 5; i++) await attempt('separate', from)
    expect(await reasonOf(attempt('separate', fresh()))).toBe('in')
    expect(await reasonOf(attempt('another', from))).toBe('in')
    expect(await reasonOf(attempt('ＳＥＰＡＲＡＴＥ', from))).toBe('SIGN_IN_THROTTLED')
  })

  test('of one name from everywhere are a hundred an hour, of one address a hundred in five minutes', async () => {
    const from = fresh()
    const byName = await Promise.all(Array.from({ length: 101 }, () => reasonOf(attempt('famous', fresh()))))
    const byAddress = await Promise.all(Array.from({ length: 101 }, (_, i) => reasonOf(attempt(`name ${i}`, from))))
    for (const results of [byName, byAddress]) expect(results.filter((reason) => reason !== 'in')).toHaveLength(1)
  })

  test('that are refused count no further: one address keeps nobody else out, and leaves no names behind', async () => {
    const from = fresh()
    for (let i = 0; i < 120; i++) await reasonOf(attempt('wanted', from))
    expect(await reasonOf(attempt('wanted', fresh()))).toBe('in')
    const rows = async () => (await users!.sql<{ n: number }[]>`select count(*)::int as n from sign_in_attempts`)[0]!.n
    const before = await rows()
    for (let i = 0; i < 5; i++) expect(await reasonOf(attempt(`made up ${i}`, from))).toBe('SIGN_IN_THROTTLED')
    expect(await rows()).toBe(before)
  })

  test('that succeed are taken back', async () => {
    const from = fresh()
    for (let i = 0; i < 20; i++) await (await attempt('regular', from))()
    expect(await reasonOf(attempt('regular', from))).toBe('in')
  })

  test('that succeed and fail at one time do not wait for each other', async () => {
    const from = fresh()
    const work = Array.from({ length: 60 }, (_, i) => attempt(`name ${i % 7}`, from).then((takeBack) => takeBack(), () => {})) // prettier-ignore
    await Promise.all(work)
  })

  test('whose window is over count no more and are forgotten', async () => {
    const from = fresh()
    for (let i = 0; i < 6; i++) await reasonOf(attempt('old', from))
    await users!.sql`update sign_in_attempts set window_end = now() - interval '1 second'`
    expect(await reasonOf(attempt('old', from))).toBe('in')
    await users!.sql`update sign_in_attempts set window_end = now() - interval '1 second'`
    await forgetAttempts(users!.sql)
    expect(await users!.sql`select 1 from sign_in_attempts`).toHaveLength(0)
  })
})

describe('a human signs in', () => {
  const human = (organizationId: string, userName: string, password?: string) =>
    addHumanUser.handle(
      users!,
      {
        userId: undefined,
        userName,
        password,
        profile: {
          firstName: 'A',
          lastName: 'B',
          preferredLanguage: '',
          gender: 0,
        },
        email: {
          email: 'a@example.com',
          verification: {
            $case: 'isVerified',
            value: true,
          },
        },
      },
      callIn(organizationId),
    )
  const signIn = (loginName: string, password: string) =>
    createSession(users!, { loginName, password }, { ...callIn(''), clientAddress: fresh() })

  test('with the bare name while it is of one user, else with the domain of the organization', async () => {
    const { userId } = await human('acme', 'arthur', 'acme-password')
    expect(await reasonOf(signIn('arthur', 'acme-password'))).toBe('in')
    await human('umbrella', 'ARTHUR', 'umbrella-password')
    expect(await reasonOf(signIn('arthur', 'acme-password'))).toBe('CREDENTIALS_INVALID')
    await signIn('arthur@ACME.localhost', 'acme-password')
    const [row] = await users!.sql`select user_id from tokens order by expires_at desc limit 1`
    expect(row).toEqual({ user_id: userId })
    expect(await reasonOf(signIn('arthur@umbrella.localhost', 'acme-password'))).toBe('CREDENTIALS_INVALID')
  })

  test('with a name that has an @ itself', async () => {
    await human('acme', 'lancelot@lake.example', 'lake-password')
    expect(await reasonOf(signIn('lancelot@lake.example', 'lake-password'))).toBe('in')
    expect(await reasonOf(signIn('lancelot@lake.example@acme.localhost', 'lake-password'))).toBe('in')
  })

  test('and cannot be shut out by a user of another organization who took the qualified name for a user name', async () => {
    await human('acme', 'victim', 'victim-password')
    await human('umbrella', 'victim@acme.localhost', 'squatter-password')
    expect(await reasonOf(signIn('victim@acme.localhost', 'victim-password'))).toBe('in')
    expect(await reasonOf(signIn('victim@acme.localhost', 'squatter-password'))).toBe('CREDENTIALS_INVALID')
    expect(await reasonOf(signIn('victim@acme.localhost@umbrella.localhost', 'squatter-password'))).toBe('in')
  })

  test('and a machine, a human without a password, an unknown name and domain, and nothing at all do not', async () => {
    await human('acme', 'nopassword')
    await addMachineUser(users!, { userName: 'robot', name: 'R', description: '', accessTokenType: 0, userId: undefined }, callIn('acme')) // prettier-ignore
    for (const name of ['robot', 'nopassword', 'nobody', 'nobody@acme.localhost', 'nobody@nowhere', '@', '@@', ' '])
      expect([name, await reasonOf(signIn(name, 'password'))]).toEqual([name, 'CREDENTIALS_INVALID'])
  })
})

test('who owns a user is asked of the database that is meant, though the id is the same in two', async () => {
  const request = { userId: 'same-id', userName: 'same', name: 'S', description: '', accessTokenType: 0 as const }
  await addMachineUser(users!, request, callIn('acme'))
  expect(await ownerOfUser(users!, 'same-id')).toEqual({ userId: 'same-id', organizationId: 'acme' })
  expect(await ownerOfUser(elsewhere!, 'same-id')).toBeUndefined()
  await addMachineUser(elsewhere!, request, callIn('umbrella'))
  expect(await ownerOfUser(elsewhere!, 'same-id')).toEqual({ userId: 'same-id', organizationId: 'umbrella' })
})
