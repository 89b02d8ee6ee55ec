import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { countFailure, countNoToken } from './client-failures.ts'
import { openUsers, type TestUsers } from '../../testing/test-users.ts'

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
const fresh = () => `10.0.${addresses >> 8}.${addresses++ & 255}`
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )
const fail = (client: string, from: string) => outcome(countFailure(users, client, from))

test('a client may fail ten times from an address, and has its own number there and elsewhere', async () => {
  const from = fresh()
  for (let n = 0; n < 10; n++) expect(await fail('one', from)).toBe('in')
  expect(await fail('one', from)).toBe('CLIENT_THROTTLED')
  expect(await fail('one', fresh())).toBe('in')
  expect(await fail('other', from)).toBe('in')
})

test('another spelling of the name is the same client', async () => {
  const from = fresh()
  const spellings = ['robot@acme.localhost', 'Robot@acme.localhost', 'ＲＯＢＯＴ@ACME.localhost']
  for (let n = 0; n < 10; n++) expect(await fail(spellings[n % 3]!, from)).toBe('in')
  expect(await fail('rObOt@acme.localhost', from)).toBe('CLIENT_THROTTLED')
})

test('a /48 may have five thousand failures, from however many addresses', async () => {
  const from = (n: number) => `2001:db8:4:${n.toString(16)}::/64`
  const work = Array.from({ length: 5000 }, (_, n) => fail(`client ${n}`, from(n % 1000)))
  expect(new Set(await Promise.all(work))).toEqual(new Set(['in']))
  await users.sql`update turns set paid_until = paid_until + interval '1 hour' where paid_until > now() + interval '200 seconds'`
  expect(await fail('another', from(1001))).toBe('CLIENT_THROTTLED')
  expect(await fail('another', '2001:db8:5:1::/64')).toBe('in')
})

test('an address may have five hundred failures, of any clients, and further ones store nothing', async () => {
  const from = fresh()
  const rows = async () => (await users.sql<{ n: number }[]>`select count(*)::int as n from turns`)[0]!.n
  const seen = await Promise.all(Array.from({ length: 500 }, (_, n) => fail(`client ${n}`, from)))
  expect(seen).toEqual(Array(500).fill('in'))
  // Takes away the tokens that came back with time.
  await users.sql`update turns set paid_until = paid_until + interval '1 minute' where paid_until > now() + interval '200 seconds'`
  const before = await rows()
  for (let n = 500; n < 505; n++) expect(await fail(`client ${n}`, from)).toBe('CLIENT_THROTTLED')
  expect(await rows()).toBe(before)
})

test('texts that are no refresh tokens count as failures of the address, and of no client', async () => {
  const from = fresh()
  const seen = await Promise.all(Array.from({ length: 400 }, () => outcome(countNoToken(users, from))))
  expect(new Set(seen)).toEqual(new Set(['in']))
  expect(await fail('calm', from)).toBe('in')
  await users.sql`update turns set paid_until = paid_until + interval '100 seconds' where paid_until > now() + interval '100 seconds'`
  expect(await outcome(countNoToken(users, from))).toBe('CLIENT_THROTTLED')
  expect(await outcome(countNoToken(users, fresh()))).toBe('in')
})

test('a client may have a hundred failures, from all addresses together', async () => {
  const seen = await Promise.all(Array.from({ length: 105 }, () => fail('famous', fresh())))
  expect(seen.filter((reason) => reason === 'CLIENT_THROTTLED')).toHaveLength(5)
})
