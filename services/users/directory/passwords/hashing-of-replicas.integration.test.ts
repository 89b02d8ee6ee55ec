import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { roster } from '#lib/health/release'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { openUsers, type TestUsers } from '../../testing/test-users.ts'
import { readUsersConfig } from '../../config.ts'
import { offered, parametersOf, standard } from '#lib/credentials/argon2-parameters'
import { openPasswordHashes } from './stored-hashes.ts'
import { readParameters } from './stored-parameters.ts'

const [dear, , , , cheap] = offered

let database: TestDatabase
let users: TestUsers
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(async () => {
  vi.useRealTimers()
  await users?.stop()
  await database?.drop()
})

/** A replica that starts now. */
const start = async (setting: string) => await openPasswordHashes(users.sql, { PASSWORD_HASHING: setting })
const usedBy = async ({ hash }: Awaited<ReturnType<typeof start>>) =>
  parametersOf(await hash('a password', { lane: '' }))
const addPassword = async () => {
  const hash = await users.passwordHashes.hash('a password', { lane: '' })
  await users.sql`insert into passwords (user_id, hash) values (${randomUUID()}, ${hash})`
}

test('a setting is one of five, and any other ends the start with a sentence', () => {
  const needed = { DATABASE_URL: 'postgres://a', NATS_URL: 'nats://a' }
  const problemOf = (setting: string) => {
    try {
      return readUsersConfig({ ...needed, PASSWORD_HASHING: setting }).PASSWORD_HASHING
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const other of ['m=19456,t=1,p=1', 'm=19456,t=2', 'argon2id', 'm=7168,t=5,p=1 '])
    expect(problemOf(other)).toContain(`PASSWORD_HASHING is none of ${offered.join(', ')}`)
  for (const one of offered) expect(problemOf(one)).not.toContain('PASSWORD_HASHING')
})

test('without the setting, passwords are hashed as before', async () => {
  users = await openUsers(database.urls.users)
  expect(users.config.PASSWORD_HASHING).toBe('m=19456,t=2,p=1')
  expect(await usedBy(users.passwordHashes)).toBe('m=19456,t=2,p=1')
  expect(await users.sql`select from hashing_settings`).toHaveLength(0)
})

test('the first start of an instance hashes by its setting at once', async () => {
  users = await openUsers(database.urls.users, { PASSWORD_HASHING: cheap })
  expect(await usedBy(users.passwordHashes)).toBe(cheap)
})

test('another setting counts for every replica, once each of them has read of it', async () => {
  users = await openUsers(database.urls.users)
  await addPassword()
  const [former, other] = [users.passwordHashes, await start(dear)]
  // The pause may be over already on a slow machine.
  await users.sql`update hashing_settings set begins_at = roster_now() + interval '10 seconds' where begins_at > '-infinity'`
  // Replicas know already what it costs, and still hash as before.
  expect((await readParameters(users.sql)).counted).toEqual([standard, dear])
  expect([await usedBy(former), await usedBy(other)]).toEqual([standard, standard])
  await shiftClock(users.sql, '10 seconds')
  vi.setSystemTime(Date.now() + 5000)
  expect([await usedBy(former), await usedBy(other)]).toEqual([dear, dear])
  // A replica that starts with the former setting takes it back for all, after the same pause.
  const back = await start(standard)
  expect([await usedBy(other), await usedBy(back)]).toEqual([dear, dear])
})

test('beside a replica of the former release, which knows one set of parameters, passwords are hashed by that', async () => {
  users = await openUsers(database.urls.users, { PASSWORD_HASHING: cheap })
  const application_name = `roster-users ${roster.former}.0`
  const former = postgres(database.urls.users, { max: 1, connection: { application_name } })
  try {
    await former`select`
    await vi.waitFor(async () => expect(await usedBy(await start(cheap))).toBe(standard))
  } finally {
    await former.end()
  }
  await vi.waitFor(async () => expect(await usedBy(await start(cheap))).toBe(cheap))
})
