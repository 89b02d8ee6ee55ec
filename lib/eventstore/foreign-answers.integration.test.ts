import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { alterAnswers } from '#test/support/altered-answers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { add, count, evolveCounter, openReplica, type Replica, silent } from '#test/support/counters'
import { RosterError } from '../errors.ts'
import { openDatabase } from '../database/database.ts'
import { createStore } from './store.ts'

let database: TestDatabase
let replica: Replica
beforeAll(async () => {
  database = await createDatabase()
  replica = await openReplica(database.urls.users)
})
afterAll(async () => {
  await replica?.stop()
  await database?.drop()
})

const anyToken = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g

async function behindAltered() {
  const { url, alter, connections } = await alterAnswers(database.urls.users)
  const sql = openDatabase(url, 'test', silent)
  onTestFinished(() => sql.end({ timeout: 1 }))
  const plain = createStore(sql, { evolve: { counter: evolveCounter } }, silent, () => {})
  return { sql, plain, spoil: alter, connections }
}

const stored = async (id: string) => (await replica.sql`select from events where aggregate_id = ${id}`).length

test('a write whose answer is that of another statement is not acknowledged, and its connection is closed', async () => {
  const { plain, spoil, connections } = await behindAltered()
  await plain.execute(add('before', 'before'))
  spoil((answer) => answer.replaceAll(anyToken, '00000000-0000-0000-0000-000000000000'))
  const opened = connections()
  const refused = await plain.execute(add('unknown', 'unknown')).catch((error: unknown) => error)
  expect(refused).toMatchObject({ reason: 'STORE_UNAVAILABLE', cause: { code: 'FOREIGN_ANSWER' } })
  expect(refused).toBeInstanceOf(RosterError)
  // It was stored, as it may be after a lost connection.
  expect(await stored('unknown')).toBe(1)
  spoil((answer) => answer)
  await plain.execute(add('after', 'after'))
  expect(connections()).toBe(opened + 1)
})

test('a write whose commit is answered otherwise is not acknowledged', async () => {
  const { sql, spoil } = await behindAltered()
  const begun = () => sql.begin((transaction) => transaction`select 1 as one`)
  await begun()
  spoil((answer) => answer.replace('COMMIT\0', 'SELECT\0'))
  await expect(begun()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  spoil((answer) => answer)
  await begun()
})

// As behind a pool of transactions: the connection finds a session that another one marked.
test('a write in the session of another connection stores nothing, and from then on its pool refuses all', async () => {
  const refusal = /because it shares sessions among connections/
  for (const write of ['statement', 'transaction']) {
    const sql = openDatabase(database.urls.users, 'test', silent)
    onTestFinished(() => sql.end({ timeout: 1 }))
    const plain = createStore(sql, { evolve: { counter: evolveCounter } }, silent, () => {})
    await plain.execute(add(`own-${write}`, `own-${write}`))
    await sql`select set_config('roster.session', 'another', false)`
    const begin = () => sql.begin((transaction) => transaction`insert into first_key_kinds values ('foreign')`)
    if (write === 'transaction') await expect(begin()).rejects.toThrow(refusal)
    else
      await expect(plain.execute(add('foreign', 'foreign'))).rejects.toMatchObject({
        reason: 'STORE_UNAVAILABLE',
        cause: { message: expect.stringMatching(refusal) as string },
      })
    await expect(sql`select 1`).rejects.toThrow(refusal)
    await expect(begin()).rejects.toThrow(refusal)
  }
  expect(await stored('foreign')).toBe(0)
  expect(await replica.sql`select from first_key_kinds where kind = 'foreign'`).toHaveLength(0)
})

test('a write is acknowledged as before where nothing is confused', async () => {
  await replica.store.execute(add('plain', 'plain'))
  expect((await replica.store.execute(count('plain'))).answer).toBe(1)
})
