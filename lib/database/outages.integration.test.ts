import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { type Cable, layCable } from '#test/support/cable'
import type { Sql } from './database.ts'
import {
  add,
  audit,
  count,
  type Counter,
  openReplica,
  openReplicas,
  outcome,
  type Replica,
} from '#test/support/counters'

let database: TestDatabase
let cable: Cable & { url: string }
let [a, b]: Replica[] = []

beforeAll(async () => {
  database = await createDatabase()
  cable = await layCable(database.urls.users)
  ;[a, b] = await Promise.all([openReplica(cable.url), openReplica(cable.url)])
})

afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()])
  await cable?.stop()
  await database?.drop()
})

test('a failed statement leaves nothing of its command: no event, no projection, no key, no other statement', async () => {
  await a!.sql`create table secrets (id text)`
  const failing = {
    ...add('half', 'half'),
    decide: (counter: any) => ({
      ...add('half', 'half').decide(counter),
      writes: [(sql: any) => sql`insert into secrets values ('half')`, (sql: any) => sql`select 1 / 0`],
    }),
  }
  expect(await outcome(a!.store.execute(failing))).toContain('division by zero')
  const [left] = await a!.sql`
    select (select count(*) from secrets) + (select count(*) from counts where id = 'half')
      + (select count(*) from events where aggregate_id = 'half') + (select count(*) from unique_keys where key = 'half') as rows
  `
  expect(left).toEqual({ rows: '0' })
})

test('without a database, calls are refused with a hint to retry, and work again once it is back', async () => {
  await a!.store.execute(add('survivor', 'survivor'))
  cable.cut()
  const errors = await Promise.all(
    [
      a!.store.execute(count('survivor')),
      a!.store.load('counter', 'survivor'),
      b!.store.execute(count('survivor')),
    ].map((work) => work.catch((error: unknown) => error)),
  )
  cable.mend()
  for (const error of errors) expect(error).toMatchObject({ code: 14, reason: 'STORE_UNAVAILABLE', retryAfter: 1 })
  await vi.waitFor(() => Promise.all([a, b].map((replica) => replica!.store.execute(count('survivor')))), {
    timeout: 10_000,
  })
})

describe('connections that break during work', () => {
  test('a transaction whose connection breaks half-way leaves nothing, and its caller gets UNAVAILABLE', async () => {
    const dying = {
      ...add('dying', 'dying'),
      decide: (counter: any) => ({
        ...add('dying', 'dying').decide(counter),
        writes: [(sql: any) => sql`select pg_terminate_backend(pg_backend_pid())`],
      }),
    }
    expect(await outcome(a!.store.execute(dying))).toBe('STORE_UNAVAILABLE')
    expect(await a!.store.load('counter', 'dying')).toBeUndefined()
    expect(await outcome(a!.store.execute(add('dying', 'dying')))).toBe('stored')
  })

  test('each acknowledged command is stored once, and every other one at most once', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => a!.store.execute(add(`target-${i}`, `target-${i}`))))
    const acknowledged = new Set<string>()
    const stop = new AbortController()
    const client = async (n: number) => {
      for (let i = 0; !stop.signal.aborted; i++) {
        const by = `${n}-${i}`
        const result = await outcome([a!, b!][n % 2]!.store.execute(count(`target-${(n + i) % 10}`, by)))
        if (result === 'stored') acknowledged.add(by)
        else expect(result).toBe('STORE_UNAVAILABLE')
      }
    }
    const clients = Array.from({ length: 16 }, (_, n) => client(n))
    for (let kills = 0; kills < 8; kills++) {
      const seen = acknowledged.size
      await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(seen + 50), { timeout: 10_000, interval: 5 })
      await a!.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
      `.catch(() => {})
    }
    stop.abort()
    await Promise.all(clients)
    const stored = await vi.waitFor(
      () => a!.sql<{ by: string; times: number }[]>`
        select payload ->> 'by' as by, count(*)::int as times from events where type = 'counted' group by 1
      `,
    )
    const counts = new Map(stored.map(({ by, times }) => [by, times]))
    expect([...acknowledged].filter((by) => counts.get(by) !== 1)).toEqual([])
    expect(stored.filter(({ by, times }) => by !== '' && times !== 1)).toEqual([])
  })
})

test('state, projection and unique keys match the events', async () => {
  await audit(a!.sql)
})

test.each([
  ['08P01', () => Object.assign(new postgres.PostgresError('server conn crashed?'), { code: '08P01' })],
  ['ENETDOWN', () => Object.assign(new Error('write ENETDOWN'), { code: 'ENETDOWN', syscall: 'write' })],
])('a batch whose commit was never confirmed is not run again (%s)', async (_, lost) => {
  let breaks = false
  const losing = (sql: Sql): Sql =>
    new Proxy(sql, {
      get: (target, key) =>
        key !== 'begin'
          ? Reflect.get(target, key)
          : async (work: never) => {
              const result: unknown = await target.begin(work)
              if (!breaks) return result
              breaks = false
              throw lost()
            },
    })
  const { replicas, stop } = await openReplicas(losing)
  onTestFinished(stop)
  const { store } = replicas[0]!
  for (const id of ['left', 'right']) await store.execute(add(id, id))
  breaks = true
  const outcomes = await Promise.all(['left', 'right'].map((id) => outcome(store.execute(count(id)))))
  const counts = await Promise.all(
    ['left', 'right'].map(async (id) => (await store.load<Counter>('counter', id))!.state.count),
  )
  expect({ outcomes, counts }).toEqual({ outcomes: ['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'], counts: [1, 1] })
})
