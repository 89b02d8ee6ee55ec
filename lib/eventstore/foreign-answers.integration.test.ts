import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { add, count, evolveCounter, openReplica, type Replica, silent } from '#test/support/counters'
import { RosterError } from '../errors.ts'
import { openDatabase } from './database.ts'
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

type Spoil = (answer: string) => string
const anyToken = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g

/** A store whose answers pass through something that may change them, such as a pooler that confuses statements. */
async function spoiled() {
  let spoil: Spoil = (answer) => answer
  let connections = 0
  const { port, hostname } = new URL(database.urls.users)
  const between = createServer((near) => {
    connections++
    const far = connect(Number(port), hostname)
    near.on('data', (chunk) => far.write(chunk))
    far.on('data', (chunk) => near.write(spoil(chunk.toString('latin1')), 'latin1'))
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const)
      // prettier-ignore
      socket.on('error', () => {}).on('close', () => other.destroy())
  })
  between.listen(0, '127.0.0.1')
  await once(between, 'listening')
  const url = new URL(database.urls.users)
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`
  const sql = openDatabase(url.href, 'test', silent)
  onTestFinished(async () => {
    await sql.end({ timeout: 1 })
    between.close()
  })
  const plain = createStore(sql, { evolve: { counter: evolveCounter } }, silent, () => {})
  return { sql, plain, spoil: (by: Spoil) => void (spoil = by), connections: () => connections }
}

const stored = async (id: string) => (await replica.sql`select from events where aggregate_id = ${id}`).length

test('a write whose answer is that of another statement is not acknowledged, and its connection is closed', async () => {
  const { plain, spoil, connections } = await spoiled()
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
  const { sql, spoil } = await spoiled()
  const begun = () => sql.begin((transaction) => transaction`select 1 as one`)
  await begun()
  spoil((answer) => answer.replace('COMMIT\0', 'SELECT\0'))
  await expect(begun()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  spoil((answer) => answer)
  await begun()
})

test('a write is acknowledged as before where nothing is confused', async () => {
  await replica.store.execute(add('plain', 'plain'))
  expect((await replica.store.execute(count('plain'))).answer).toBe(1)
})
