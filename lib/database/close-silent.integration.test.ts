import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { layCable } from '#test/support/cable'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { closeSilent } from './close-silent.ts'
import { isConnectionError, openDatabase, type Sql } from './database.ts'

let database: TestDatabase
beforeAll(async () => void (database = await createDatabase()))
afterAll(() => database.drop())

/** A pool with two ways to the database, of which the first can be stalled. */
async function openPool() {
  const [first, second] = [await layCable(database.urls.users), await layCable(database.urls.users)]
  const url = first.url.replace(/(:\d+)\//, `$1,127.0.0.1:${second.port}/`)
  const sql = openDatabase(url, 'test', silent)
  const closing = closeSilent({ url, service: 'test', pools: [sql], ask: (own) => own`select 1`, every: 100 })
  onTestFinished(async () => {
    await closing.stop()
    await sql.end({ timeout: 0 })
    await Promise.all([first.stop(), second.stop()])
  })
  return { first, sql }
}

const all = (sql: Sql, seconds: number) =>
  Promise.all(
    Array.from({ length: 8 }, async () => {
      const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(${seconds})`
      return row!.pid
    }),
  )

test('where a server goes without a word, what waits for it fails, and no connection to it is left, once another one answers', async () => {
  const { first, sql } = await openPool()
  const before = await all(sql, 0.1)
  first.stall()
  const began = performance.now()
  const waiting = sql`select 1`.catch((error: unknown) => error)
  expect(await waiting).toSatisfy(isConnectionError)
  expect(new Set([...before, ...(await all(sql, 0.1))]).size).toBe(16)
  expect(performance.now() - began).toBeLessThan(20_000)
}, 60_000)

test('a statement that takes long is left alone while its server answers', async () => {
  const { sql } = await openPool()
  expect(await all(sql, 9)).toHaveLength(8)
}, 60_000)
