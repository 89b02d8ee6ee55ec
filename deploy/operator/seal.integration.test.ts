import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testServers } from '#test/support/servers'
import { migrate } from '#lib/eventstore/migrate'
import { sealedNote } from '#lib/eventstore/releases'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { runOperator } from '#test/support/operator'
import { addHumanUser } from '../../services/users/operations/user/add-human-user.ts'
import { startSealingUsers } from '../../services/users/start-sealing-users.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../services/users/test-users.ts'
import { models } from './models.ts'

let database: TestDatabase
let users: TestUsers

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  // As a database of the release before.
  await users.sql`update sealing set phase = 'off'`
  await users.sql`delete from migrations where name = ${sealedNote}`
  users.personal.phase = 'off'
})
afterAll(async () => {
  await users.stop()
  await database.drop()
})

const seal = (...args: string[]) => roster('seal', ...args)

function roster(...args: string[]) {
  return runOperator(args, {
    ROSTER_OPERATOR_DATABASE_URL: (database.urls as Record<string, string>)['operator']!,
    ROSTER_OPERATOR_NATS_URL: testServers().natsUrl.operator,
  })
}
const phase = async () => (await users.sql<{ phase: string }[]>`select phase from sealing`)[0]!.phase

test.each(['roster-users 0.2.0', 'roster-users'])(
  'beside %s nothing is sealed: that one could not read it',
  async (name) => {
    const former = postgres(database.urls.users, { max: 1, connection: { application_name: name } })
    const [{ pid }] = await former<[{ pid: number }]>`select pg_backend_pid() as pid`
    expect(await seal('--yes')).toMatchObject({
      status: 2,
      err: expect.stringContaining(`connected: ${name} (role roster_users, pid ${pid}). Replace`),
    })
    // Nor where it came after the command had looked.
    await users.sql`update sealing set wanted = true`
    const sealing = startSealingUsers(users, 0)
    await sealing.stop()
    expect(await phase()).toBe('off')
    await users.sql`update sealing set wanted = false`
    await former.end()
  },
)

test('verify does not ask for exact names of a user whom the former release wrote, as its searches do not', async () => {
  await migrate(users.sql, new URL('../../services/users/migrations/', import.meta.url), silent, models.users)
  const domains = await serveDomains({})
  const profile = { firstName: 'Ada', lastName: 'Lovelace', preferredLanguage: 'en', gender: 1 as const }
  const email = { email: 'ada@example.com', verification: { $case: 'isVerified' as const, value: true } }
  await addHumanUser.handle(users, { userId: 'ada', userName: 'Ada', profile, email }, callIn('acme'))
  await domains.stop()
  for (const table of ['found_users', 'found_addresses']) {
    const changed = await users.sql`update ${users.sql(table)} set exact = null where user_id = 'ada'`
    expect(changed.count).toBe(1)
  }
  const verified = await roster('verify', '--without-stream', 'users')
  expect(verified).toMatchObject({ status: 0, out: 'Nothing differs.\n' })
})

test('another role that calls itself the service users of a former release does not hinder', async () => {
  const stranger = postgres(database.urls.idp, { max: 1, connection: { application_name: 'roster-users 0.1.9' } })
  await stranger`select 1`
  try {
    expect(await seal()).toMatchObject({ status: 2, err: expect.stringContaining('no way back') })
  } finally {
    await stranger.end()
  }
})

test('the command asks first, waits until all is sealed, and says so the next time', async () => {
  expect(await seal()).toMatchObject({ status: 2, err: expect.stringContaining('no way back') })
  expect(await phase()).toBe('off')
  const sealing = startSealingUsers(users, 0)
  try {
    expect(await seal('--yes')).toMatchObject({ status: 0, out: 'All is sealed.\n' })
  } finally {
    await sealing.stop()
  }
  expect(await seal()).toMatchObject({ status: 0, out: 'All is sealed already.\n' })
  expect((await seal('--json')).json()).toEqual([{ sealed: true, skipped: 0, hindering: 0, users: [] }])
  expect(await users.sql`select from migrations where name = ${sealedNote}`).toHaveLength(1)
})
