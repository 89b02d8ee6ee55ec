import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { openDatabase, type Sql, type Statement, type Transaction } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { retryElsewhere } from '../ledger/requeue.ts'
import type { SendOptions } from './send.ts'
import { sendBatch } from './send-batch.ts'
import { endChain, giveBack, settle, type Taken, takeChains } from './chain.ts'

let database: TestDatabase
let sql: Sql
let last = 0

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.notifier, 'notifier', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
  await sql`insert into webhooks values ('w', 'o', false, 'https://example.com', '{}', true, now())`
})
beforeEach(async () => {
  await sql`truncate deliveries, chains, places, turns`
  await sql`update webhooks set quick = true, timeouts = 0, retry_at = null`
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const sent = { state: 'sent', error: '', delay: 0, quick: true } as const

async function take() {
  return (await takePlaces(1, 1))[0]
}

async function takePlaces(most: number, ofPlace: number, using: Sql = sql) {
  const { taken } = await takeChains(using, new Map([['w', ofPlace]]), { most, mostSlow: 1, within: 15_000 })
  return taken
}

/** Takes in one event of an aggregate for the webhook. Returns the answer of `take_in`. */
async function takeIn(aggregate = 'user/a', was = last, using: Sql | Transaction = sql): Promise<string[] | null> {
  const place = (n: number) => JSON.stringify({ transaction_id: n, position: n })
  const wanted = {
    id: `${aggregate} ${was}`,
    organization_id: 'o',
    event_id: `${aggregate} ${was}`,
    event_type: 't',
    user_id: '',
    aggregate,
    webhook_id: 'w',
    payload: '{}',
  }
  const [row] = await using<[{ woken: string[] | null }]>`
    select take_in('users', ${was === 0 ? null : place(was)}::text::jsonb, ${place(was + 1)}::text::jsonb,
      ${JSON.stringify([wanted])}::text::jsonb, '[]'::jsonb, 5) as woken
  `
  if (row.woken) last++
  return row.woken
}

test('a page of events is taken in once, however many replicas read it', async () => {
  await takeIn()
  const was = last
  const all = await Promise.all([takeIn('user/b', was), takeIn('user/b', was), takeIn('user/b', was)])
  expect(all.filter((woken) => woken !== null)).toEqual([['w']])
  const [{ count }] = await sql<[{ count: number }]>`select count(*)::int from deliveries where aggregate = 'user/b'`
  expect(count).toBe(1)
})

test('a taken chain cannot be taken again; another chain is free', async () => {
  await takeIn('user/a')
  const all = await Promise.all(Array.from({ length: 5 }, () => take()))
  expect(all.filter(Boolean)).toHaveLength(1)
  await takeIn('user/b')
  expect((await take())!.aggregate).toBe('user/b')
  expect(await take()).toBeUndefined()
})

test('after a delivery was sent, the next one of its chain follows, and the chain ends with the last one', async () => {
  await takeIn()
  await takeIn()
  const first = await take()
  await settle(sql, first!, sent, true)
  const second = await take()
  expect(Number(second!.position)).toBeGreaterThan(Number(first!.position))
  await settle(sql, second!, sent, true)
  expect([...(await sql`select * from chains`)]).toEqual([])
  expect([...(await sql`select * from places`)]).toEqual([])
})

test('an event is sent even if it comes while the last delivery of its chain is recorded', async () => {
  await takeIn()
  const taken = await take()
  const { settling } = await sql.begin(async (transaction) => {
    await takeIn('user/a', last, transaction)
    const settling = settle(sql, taken!, sent, true)
    await expect
      .poll(() => sql`select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'settle_try'`)
      .toHaveLength(1)
    return { settling }
  })
  await settling
  expect(Number((await take())!.position)).toBeGreaterThan(Number(taken!.position))
})

test('an event is sent even if it comes between a look that found nothing and the end of its chain', async () => {
  await takeIn()
  await sql`update deliveries set state = 'failed'`
  const end = await take()
  expect(end!.position).toBeNull()
  await takeIn()
  await endChain(sql, end!, true)
  expect((await take())!.position).not.toBeNull()
  await sql`update deliveries set state = 'failed'`
  await sql`update chains set due_at = now()`
  await endChain(sql, (await take())!, true)
  expect([...(await sql`select * from chains`)]).toEqual([])
})

test('an event is sent even if it was invisible when its chain was taken', async () => {
  await takeIn()
  const taken = await take()
  await endChain(sql, { ...taken!, position: null }, true)
  expect((await take())!.position).toBe(taken!.position)
})

test('a worker that is too late records nothing: another worker has the chain', async () => {
  await takeIn()
  const late = await take()
  await sql`update chains set due_at = now()`
  const other = await take()
  await settle(sql, late!, sent, true)
  expect([...(await sql`select state from deliveries`)]).toEqual([{ state: 'queued' }])
  await settle(sql, other!, { state: 'failed', error: 'timeout', delay: 0, quick: false }, true)
  expect([...(await sql`select state, error, attempts from deliveries`)]).toEqual([
    { state: 'failed', error: 'timeout', attempts: 1 },
  ])
})

test('no chain of a paused webhook is taken', async () => {
  await takeIn()
  await sql`update webhooks set active = false`
  expect(await take()).toBeUndefined()
  await sql`update webhooks set active = true`
  expect(await take()).toBeDefined()
})

test('an answer of the former address does not count, even if the chain came while the address changed', async () => {
  const url = 'https://former.example.com'
  await sql`update webhooks set url = ${url} where webhook_id = 'w'`
  const { taken } = await sql.begin(async (transaction) => {
    // UpdateWebhook stores in this order: first the chains, then the address.
    await (retryElsewhere('w') as Statement)(transaction)
    await takeIn()
    const taken = await take()
    await transaction`update webhooks set url = 'https://example.com' where webhook_id = 'w'`
    return { taken }
  })
  expect(taken!.url).toBe(url)
  await settle(sql, taken!, sent, true)
  const [{ state }] = await sql<[{ state: string }]>`select state from deliveries`
  expect(state).toBe('queued')
})

test('places share what is due evenly, each with its oldest chain first, and what is given back keeps its turn', async () => {
  for (let n = 1; n <= 9; n++) await takeIn(`user/${n}`)
  const number = ({ aggregate }: Taken) => Number(aggregate.slice(5))
  const groups = (taken: Taken[]) => [...Map.groupBy(taken, ({ takenBy }) => takenBy).values()]
  const places = groups(await takePlaces(20, 2))
  expect(places.map((chains) => chains.map(number)).toSorted(([a], [b]) => a! - b!)).toEqual([
    [1, 5],
    [2, 6],
    [3, 7],
    [4, 8],
  ])
  expect(await takePlaces(20, 2)).toEqual([])
  const [, third] = places.find(([first]) => number(first!) === 3)!
  await giveBack(sql, [third!], false)
  await settle(sql, places.find(([first]) => number(first!) === 1)![0]!, sent, true)
  expect((await takePlaces(20, 2)).map(number)).toEqual([7, 9])
})

test('a place is free after it gave back its other chains while it recorded a try', async () => {
  await takeIn('user/a')
  await takeIn('user/b')
  await sql`update deliveries set state = 'failed'`
  const chains = await takePlaces(1, 2)
  const { signal } = new AbortController()
  const { sending } = await sql.begin(async (transaction) => {
    await transaction`select from chains where aggregate = 'user/a' for update`
    // Both are at their end, so nothing is sent.
    const sending = sendBatch({ sql } as SendOptions, chains, { stopped: signal, abandoned: signal, givenBack() {} })
    await expect.poll(() => sql`select from chains where taken_by = ''`).toHaveLength(1)
    return { sending }
  })
  expect(await sending).toBe(1)
  expect([...(await sql`select aggregate from chains`)]).toEqual([{ aggregate: 'user/b' }])
  expect([...(await sql`select * from places`)]).toEqual([])
})

test.each(['empty', 'full'])('a look reads only what it takes, however much waits: last seen %s', async (seen) => {
  // PostgreSQL counts for each connection.
  const own = await sql.reserve()
  onTestFinished(() => own.release())
  if (seen === 'empty') await own`analyze deliveries, chains`
  await own`
    insert into deliveries (id, kind, state, organization_id, event_id, event_type, user_id, aggregate, webhook_id,
      payload, queued_at, created_at, changed_at)
    select n, 'webhook', 'queued', 'o', n, 't', '', 'user/' || n / 2, 'w', '{}', now(), now(), now()
    from generate_series(1, 20000) n
  `
  await own`insert into chains select distinct 'w', aggregate, now() from deliveries`
  if (seen === 'full') await own`analyze deliveries, chains`
  const read = async () => {
    await own`select pg_stat_force_next_flush()`
    const [row] = await own<[{ count: string }]>`
      select sum(seq_tup_read) + sum(idx_tup_fetch) as count
      from pg_stat_user_tables where relname in ('deliveries', 'chains')
    `
    return Number(row.count)
  }
  const before = await read()
  for (let look = 0; look < 10; look++) {
    const taken = await takePlaces(4, 8, own)
    expect(taken).toHaveLength(32)
    for (const chain of taken) await settle(own, chain, sent, true)
  }
  expect((await read()) - before).toBeLessThan(320 * 8)
})
