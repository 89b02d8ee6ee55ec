import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '../../test/infra-database.ts'
import { countFailure, refuseThrottled } from './client-throttle.ts'
import { openUsers, type TestUsers } from './test-users.ts'

let database: TestDatabase
let users: TestUsers

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
})

afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

let addresses = 0
const fresh = () => `2001:db8::${(addresses++).toString(16)}`
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )
const fail = (client: string, from: string) => outcome(countFailure(users.sql, client, from))
const ask = (client: string, from: string) => outcome(refuseThrottled(users.sql, client, from))

test('ten failures of a client from an address shut it out there, and nowhere else, nor another client', async () => {
  const from = fresh()
  for (let n = 0; n < 10; n++) {
    expect(await ask('one', from)).toBe('in')
    await fail('one', from)
  }
  expect(await ask('one', from)).toBe('CLIENT_THROTTLED')
  expect(await ask('one', fresh())).toBe('in')
  expect(await ask('other', from)).toBe('in')
})

test('five hundred failures from an address shut the address out', async () => {
  const from = fresh()
  await Promise.all(Array.from({ length: 500 }, (_, n) => fail(`client ${n}`, from)))
  expect(await ask('another', from)).toBe('CLIENT_THROTTLED')
})

test('a hundred failures of a client from everywhere are told so, but never keep the client itself out', async () => {
  const seen = await Promise.all(Array.from({ length: 105 }, () => fail('famous', fresh())))
  expect(seen.filter((reason) => reason === 'CLIENT_THROTTLED')).toHaveLength(5)
  expect(await ask('famous', fresh())).toBe('in')
})

test('what is asked for costs no write', async () => {
  const from = fresh()
  for (let n = 0; n < 20; n++) await ask('regular', from)
  const [row] =
    await users.sql`select count(*)::int as count from sign_in_attempts where key = sha256(${`client regular from ${from}`}::bytea)`
  expect(row!['count']).toBe(0)
})
