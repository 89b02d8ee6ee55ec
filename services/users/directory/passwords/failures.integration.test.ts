import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from '../../testing/test-users.ts'
import type { User } from '../events/user.ts'
import { recordFailure, recordCounts } from './failures.ts'
import { findLoginUser } from '../login-names/meaning.ts'
import type { LoginUser } from '../login-names/login-user.ts'

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let replicas: TestUsers[]

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  replicas = await Promise.all([openUsers(database.urls.users), openUsers(database.urls.users)])
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await domains.stop()
  await database.drop()
})

const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
const email = { email: 'a@example.com', verification: { $case: 'isVerified' as const, value: true } }

async function human(userId: string): Promise<LoginUser> {
  await addHumanUser.handle(replicas[0]!, { userId, userName: userId, profile, email }, callIn('acme'))
  return (await findLoginUser(replicas[0]!, userId, callIn('')))!
}

const eventsOf = async (userId: string) =>
  (
    await replicas[0]!.sql`
    select type, payload from events where aggregate_type = 'user.signin' and aggregate_id = ${userId} order by sequence
  `
  ).map(({ type, payload }) => [type, payload.count])
const failAll = (user: LoginUser, number: number) =>
  Promise.all(Array.from({ length: number }, (_, index) => recordFailure(replicas[index % 2]!, user, 'test')))
const aMinuteLater = () => replicas[0]!.sql`update failed_sign_ins set since = since - interval '1 minute'`
const recordAll = () => Promise.all(replicas.map((replica) => recordCounts(replica)))

test('many failures at once over two replicas are one event, and one with their count a minute later', async () => {
  const user = await human('many')
  await failAll(user, 30)
  await recordAll()
  expect(await eventsOf('many')).toEqual([['failed', undefined]])
  await failAll(user, 10)
  await aMinuteLater()
  await recordAll()
  expect(await eventsOf('many')).toEqual([
    ['failed', undefined],
    ['failures.counted', 40],
  ])
  await recordAll()
  await failAll(user, 2)
  expect((await eventsOf('many')).slice(2)).toEqual([['failed', undefined]])
  expect((await replicas[0]!.store.load('user', 'many'))!.sequence).toBe(1)
})

test('failures beside the end of a minute are each counted once, also where a replica died meanwhile', async () => {
  const user = await human('beside')
  await failAll(user, 3)
  await aMinuteLater()
  await Promise.all([recordAll(), failAll(user, 20), recordAll()])
  await replicas[0]!.sql`update failed_sign_ins set closed = true`
  await failAll(user, 4)
  await aMinuteLater()
  await recordAll()
  const events = await eventsOf('beside')
  expect(events.reduce((sum, [, count]) => sum + ((count as number | undefined) ?? 0), 0)).toBe(27)
  expect(events.map(([type]) => type)).toEqual(events.map((_, index) => (index % 2 ? 'failures.counted' : 'failed')))
  expect(await replicas[0]!.sql`select from failed_sign_ins where user_id = 'beside'`).toHaveLength(0)
})

test('a sign-in of an unknown name is no event, and one of a removed user goes with the user', async () => {
  const [users] = replicas as [TestUsers]
  const user = await human('gone')
  await expect(signInBy(users, { loginName: 'no-one', password: 'x' }, callIn(''))).rejects.toThrow()
  await expect(signInBy(users, { loginName: 'gone', password: 'x' }, callIn(''))).rejects.toThrow()
  await users.afterResponse.stop()
  expect(await eventsOf('gone')).toEqual([['failed', undefined]])
  await users.store.execute({
    aggregate: { type: 'user', id: 'gone' },
    call: callIn(''),
    decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
  })
  await failAll(user, 2)
  expect(await users.sql`select from failed_sign_ins where user_id = 'gone'`).toHaveLength(0)
  expect(await eventsOf('gone')).toHaveLength(1)
  expect(
    await users.sql`select distinct aggregate_id from events where aggregate_type = 'user.signin' and aggregate_id not in ('many', 'beside', 'gone')`,
  ).toHaveLength(0)
})
