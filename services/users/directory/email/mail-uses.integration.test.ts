import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { RosterError } from '#lib/errors'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { resendEmailCode } from '../operations/user/resend-email-code.ts'
import { setEmail } from '../operations/user/set-email.ts'
import type { Verification } from './verification.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'

let database: TestDatabase
let replicas: TestUsers[]
const [a, b] = [() => replicas[0]!, () => replicas[1]!]

beforeAll(async () => {
  database = await createDatabase()
  const settings = { MAILS_PER_ORGANIZATION_AN_HOUR: '30' }
  replicas = await Promise.all([openUsers(database.urls.users, settings), openUsers(database.urls.users, settings)])
})
afterAll(async () => {
  for (const replica of replicas ?? []) await replica.stop()
  await database?.drop()
})

const returned: Verification = { $case: 'returnCode', value: {} }
const verified: Verification = { $case: 'isVerified', value: true }
const unverified: Verification = { $case: 'isVerified', value: false }
const newAddress = () => `${randomUUID()}@example.com`

async function addHuman(
  organization: string,
  email = newAddress(),
  verification: Verification = verified,
  context = a(),
) {
  const userId = randomUUID()
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const request = { userId, userName: userId, profile, email: { email, verification } }
  await addHumanUser.handle(context, request, callIn(organization))
  return userId
}

const change = (context: TestUsers, userId: string, email: string, verification?: Verification) =>
  setEmail.handle(context, { userId, email, verification }, callIn('any'))

/** The outcomes of so many calls, half of them at each replica. */
async function tally(number: number, work: (context: TestUsers, n: number) => Promise<unknown>) {
  const outcomes = await Promise.all(
    Array.from({ length: number }, (_, n) =>
      work([a(), b()][n % 2]!, n).then(
        () => 'mailed',
        (error: RosterError) => error.reason,
      ),
    ),
  )
  return Object.fromEntries(
    Map.groupBy(outcomes, (one) => one)
      .entries()
      .map(([one, all]) => [one, all.length]),
  )
}

const newHumans = (number: number, organization = randomUUID) =>
  Promise.all(Array.from({ length: number }, () => addHuman(organization())))

const throttled = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: RosterError) => thrown,
  )
  return error && { reason: error.reason, ...error.metadata }
}

/** How many mails to an address were requested, whichever user has it. */
const mailsTo = async (email: string) =>
  (
    await a().sql`
      select from events e join found_addresses a on a.user_id = e.aggregate_id
      where e.type = 'email.code.requested' and a.email = ${email}
    `
  ).count

describe('one address gets five mails in ten minutes', () => {
  test('of fifty SetEmail at once, for fifty users of fifty organizations at two replicas', async () => {
    for (let round = 0; round < 3; round++) {
      const [humans, victim] = [await newHumans(50), newAddress()]
      const answers = await tally(50, (context, n) => change(context, humans[n]!, victim))
      expect(answers).toEqual({ mailed: 5, MAILS_THROTTLED: 45 })
      expect(await mailsTo(victim)).toBe(5)
    }
  })

  test('of fifty AddHumanUser at once, and the refused ones create nothing', async () => {
    const victim = newAddress()
    const answers = await tally(50, (context) => addHuman(randomUUID(), victim, unverified, context))
    expect(answers).toEqual({ mailed: 5, MAILS_THROTTLED: 45 })
    expect(await mailsTo(victim)).toBe(5)
    const created = await a().sql`select from found_addresses where email = ${victim}`
    expect(created.count).toBe(5)
  })

  test('over all operations together, and in every spelling', async () => {
    const name = randomUUID()
    const [one, other] = await newHumans(2)
    const sendCode: Verification = { $case: 'sendCode', value: {} }
    await change(a(), one!, `${name}@example.com`)
    await change(b(), one!, `${name.toUpperCase()}@EXAMPLE.com`, sendCode)
    await change(a(), other!, `${name}+tag@example.com`, unverified)
    await resendEmailCode.handle(b(), { userId: other!, verification: undefined }, callIn('any'))
    await addHuman(randomUUID(), `${name}+other@Example.com`, unverified)
    const sixth = () => change(a(), one!, `${name}+sixth@example.com`)
    expect(await throttled(sixth())).toEqual({ reason: 'MAILS_THROTTLED', limit: 'address' })
  })

  test('and a refused change changes nothing', async () => {
    const [humans, victim] = [await newHumans(6), newAddress()]
    for (const human of humans.slice(0, 5)) await change(a(), human, victim)
    const before = await a().store.load('user', humans[5]!)
    await expect(change(a(), humans[5]!, victim)).rejects.toMatchObject({ code: 8, reason: 'MAILS_THROTTLED' })
    expect(await a().store.load('user', humans[5]!)).toEqual({ ...before, readAt: expect.any(Date) })
  })

  test('and a change without a mail neither counts nor is refused', async () => {
    const [[human], victim] = [await newHumans(1), newAddress()]
    for (let n = 0; n < 10; n++) {
      await change(a(), human!, newAddress(), returned)
      await change(b(), human!, victim, returned)
      await change(b(), human!, victim, verified)
    }
    for (let n = 0; n < 5; n++) await change(a(), human!, victim, unverified)
    expect(await throttled(change(a(), human!, victim))).toMatchObject({ reason: 'MAILS_THROTTLED' })
    await change(b(), human!, victim, returned)
    const mailed = await a().sql`select from events where aggregate_id = ${human!} and type = 'email.code.requested'`
    expect(mailed.count).toBe(5)
  })

  test('and twenty a day, and the error says when the next may come', async () => {
    const [[human], victim] = [await newHumans(1), newAddress()]
    const mail = () => change(a(), human!, victim, unverified)
    const wait = async () => ((await mail().catch((error: unknown) => error)) as RosterError).retryAfter
    for (let n = 1; n <= 4; n++) {
      for (let mails = 0; mails < 5; mails++) await mail()
      expect(await wait()).toBeGreaterThan(500)
      await shiftClock(a().sql, `${n * 601} seconds`)
    }
    expect(await wait()).toBeGreaterThan(80_000)
    await shiftClock(a().sql, '1 day 1 hour')
    await mail()
  })
})

test('each organization has its own number of mails an hour for its users', async () => {
  const [mine, other] = [randomUUID(), randomUUID()]
  const humans = await newHumans(50, () => mine)
  expect(await tally(50, (context, n) => change(context, humans[n]!, newAddress()))).toEqual({
    mailed: 30,
    MAILS_THROTTLED: 20,
  })
  expect(await throttled(addHuman(mine, newAddress(), unverified))).toEqual({
    reason: 'MAILS_THROTTLED',
    limit: 'organization',
  })
  const [stranger] = await newHumans(1, () => other)
  await change(a(), stranger!, newAddress())
  await change(a(), humans[0]!, newAddress(), returned)
})

test('the stored keys of the counts show no address', async () => {
  const [[human], victim] = [await newHumans(1), newAddress()]
  await change(a(), human!, victim)
  const rows = await a().sql<{ key: string }[]>`select key from uses`
  expect(rows.every(({ key }) => /^[A-Za-z0-9+/]{43}=$/.test(key))).toBe(true)
})
