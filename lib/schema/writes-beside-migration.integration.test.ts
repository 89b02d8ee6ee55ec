import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '#lib/log'
import { add, openReplica, type Replica, writeMigrations } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openDatabase } from '../database/database.ts'
import { migrate } from './migrate.ts'

const rows = 200_000
/** Seconds for which somebody reads the table, before the migration may change it. */
const reading = 6

let database: TestDatabase
let replica: Replica

beforeAll(async () => {
  database = await createDatabase()
  replica = await openReplica(database.urls.users)
  await replica.sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
      insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
      select 'other', n::text, 1, 'added', '{"name": "n"}', 'house', '', '', now() from generate_series(1, ${rows}) n
    `
  })
}, 120_000)
afterAll(async () => {
  await replica?.stop()
  await database?.drop()
})

test(
  'writes go on while a column and an index are added to a table of many events, and a reader holds up the column',
  { timeout: 120_000 },
  async () => {
    const migrating = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
    onTestFinished(() => migrating.end({ timeout: 5 }))
    const said: string[] = []
    const waits = {
      begin: (_: string, error: unknown) => void said.push(String(error)),
      end: () => {},
      has: () => false,
    }
    const folder = await writeMigrations({
      '0001-counts.sql': 'not applied again',
      '0002-source.sql': 'alter table events add column source text',
      '0003-source.concurrently.sql':
        'create index concurrently if not exists events_by_source on events (source, creator, position)',
    })

    const took: { at: number; ms: number }[] = []
    const over = new AbortController()
    const writing = Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (let n = 0; !over.signal.aborted; n++) {
          const at = performance.now()
          await replica.store.execute(add(`${lane}-${n}`, `name ${lane}-${n}`))
          took.push({ at, ms: performance.now() - at })
          await sleep(5)
        }
      }),
    )

    const began = performance.now()
    const read = replica.sql.begin(async (sql) => {
      await sql`select from events limit 1`
      await sleep(reading * 1000)
    })
    // The making of the index waits for this snapshot, so it lasts for a second at least.
    const building = { from: 0, to: 0 }
    const snapshot = replica.sql.begin('isolation level repeatable read', async (sql) => {
      await sql`select 1`
      const isThere = () => replica.sql`select from pg_class where relname = 'events_by_source'`
      await vi.waitFor(async () => expect(await isThere()).toHaveLength(1), { timeout: 60_000 })
      building.from = performance.now()
      await sleep(1000)
      building.to = performance.now()
    })
    await sleep(100)
    await migrate(migrating, folder, createLog('test', 'silent'), {}, waits)
    const migrated = performance.now()
    await Promise.all([read, snapshot])
    over.abort()
    await writing

    const longest = Math.max(...took.map(({ ms }) => ms))
    const duringBuild = took.filter(({ at, ms }) => at > building.from && at + ms < building.to)
    const summary =
      `${rows} events, migrated in ${((migrated - began) / 1000).toFixed(1)} s: ${took.length} writes, ` +
      `the longest ${longest.toFixed(0)} ms, beside the index the longest of ${duringBuild.length} ` +
      `${Math.max(0, ...duringBuild.map(({ ms }) => ms)).toFixed(0)} ms\n`
    process.stdout.write(summary)
    // The migration waits two seconds at a time. Without that, writes would wait for the whole time of the reader.
    expect(migrated - began).toBeGreaterThan(reading * 1000)
    expect(longest).toBeLessThan(3500)
    expect(duringBuild.length).toBeGreaterThan(0)
    expect(said).toEqual([
      expect.stringMatching(/the migrations wait for a lock that roster_users \(process \d+, .*\) holds/),
    ])
    expect(
      await replica.sql`select indisvalid as valid from pg_index where indexrelid = 'events_by_source'::regclass`,
    ).toEqual([{ valid: true }])
  },
)

test('an index that takes long is not said to wait for the replica that makes it', { timeout: 60_000 }, async () => {
  const migrating = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  onTestFinished(() => migrating.end({ timeout: 5 }))
  const begin = vi.fn()
  const folder = await writeMigrations({
    '0001-counts.sql': 'not applied again',
    '0002-slow.sql': `
      create function slow(n int) returns int language plpgsql immutable as 'begin perform pg_sleep(5); return n; end';
      create table slow as select 1 as n`,
    '0003-slow.concurrently.sql': 'create index concurrently if not exists slow_by_n on slow (slow(n))',
  })
  await migrate(migrating, folder, createLog('test', 'silent'), {}, { begin, end: () => {}, has: () => false })
  expect(begin).not.toHaveBeenCalled()
})
