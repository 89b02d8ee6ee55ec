import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { hashToken } from '#lib/credentials/token-text'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { listSecretUses } from '../../internal/list-secret-uses.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { loadApplication } from '../applications/find-application.ts'
import { noteCopies } from '../applications/note-copies.ts'
import { openSecretUses } from './secret-uses.ts'

let database: TestDatabase
let users: TestUsers
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
})
afterEach(() => shiftClock(users.sql, '0'))
afterAll(async () => {
  await users.stop()
  await database.drop()
})

/** Notes uses, and stores them as a process does that ends. */
async function use(...uses: [applicationId: string, secretId: string][]): Promise<void> {
  const secretUses = openSecretUses(users.sql, users.log)
  for (const [applicationId, secretId] of uses) secretUses.note(applicationId, secretId)
  await secretUses.stop()
}
async function usesOf(applicationId: string): Promise<Record<string, string>> {
  const { uses } = await listSecretUses(users, { applicationId })
  return Object.fromEntries(uses.map(({ secretId, time }) => [secretId, time!.toISOString()]))
}
async function hour(shift: string): Promise<string> {
  const [row] = await users.sql<{ at: Date }[]>`select date_trunc('hour', now() + ${shift}::interval) as at`
  return row!.at.toISOString()
}

test('a use is noted by the hour of PostgreSQL, and never goes back', async () => {
  await shiftClock(users.sql, '3 hours')
  await use(['app', 'a'], ['app', 'b'], ['app', 'a'], ['other', 'c'])
  const later = await hour('3 hours')
  expect(await usesOf('app')).toEqual({ a: later, b: later })
  await shiftClock(users.sql, '0')
  await use(['app', 'a'])
  expect(await usesOf('app')).toEqual({ a: later, b: later })
  await shiftClock(users.sql, '5 hours')
  await use(['app', 'b'])
  expect(await usesOf('app')).toEqual({ a: later, b: await hour('5 hours') })
})

test('a use costs nothing before it is stored, and within its hour nothing at all', async () => {
  const secretUses = openSecretUses(users.sql, users.log)
  const held = await users.sql.reserve()
  await held`begin`
  await held`lock table secret_uses in access exclusive mode`
  secretUses.note('busy', 'a')
  const stored = secretUses.stop()
  await held`rollback`
  held.release()
  await stored
  expect(Object.keys(await usesOf('busy'))).toEqual(['a'])
  await users.sql`delete from secret_uses where application_id = 'busy'`
  secretUses.note('busy', 'a')
  await secretUses.stop()
  expect(await usesOf('busy')).toEqual({})
})

const copy = (
  sequence: number,
  secrets: { secretId: string; expirationDate?: Date }[],
  secretHash: Buffer = Buffer.alloc(0),
) => ({
  type: 'application',
  id: 'kept',
  organizationId: 'acme',
  sequence,
  closedSequence: 0,
  state: Buffer.from(JSON.stringify({ projectId: 'p', clientId: 'kept', name: 'App' })),
  secretHash,
  secrets: secrets.map((secret) => ({ expirationDate: undefined, ...secret, hash: hashToken(secret.secretId) })),
})
const note = (...copied: Parameters<typeof noteCopies>[1]) => noteCopies(users, copied, callIn('acme'))
const known = async () => (await loadApplication(users, { clientId: 'kept' }))!.secrets

test('the uses of a secret go with it, those of the others stay', async () => {
  const project = { ...copy(1, []), type: 'project', id: 'p', state: Buffer.from('{}') }
  await note(project, copy(1, [{ secretId: 'a' }, { secretId: 'b' }]))
  await use(['kept', 'a'], ['kept', 'b'])
  await note(copy(2, [{ secretId: 'b' }]))
  expect(Object.keys(await usesOf('kept'))).toEqual(['b'])
  expect(await known()).toEqual([{ id: 'b', hash: hashToken('b') }])
})

test('a secret counts until it ends by the clock of PostgreSQL', async () => {
  const ends = new Date(Date.now() + 3_600_000)
  await note(copy(3, [{ secretId: 'a', expirationDate: ends }, { secretId: 'b' }]))
  expect((await known()).map(({ id }) => id)).toEqual(['a', 'b'])
  await shiftClock(users.sql, '61 minutes')
  expect((await known()).map(({ id }) => id)).toEqual(['b'])
})

test('a grants that says one hash alone is believed', async () => {
  await note(copy(4, [], hashToken('alone')))
  expect(await known()).toEqual([{ id: '', hash: hashToken('alone') }])
})
