import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDatabase, type Sql, type Statement } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { retryElsewhere } from '../ledger/requeue.ts'
import { endChain, settle, takeChains } from './chain.ts'

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
  const { taken } = await takeChains(sql, ['w'], { most: 1, mostSlow: 1, within: 15_000 })
  return taken[0]
}

/** Takes in one event of an aggregate for the webhook. Returns the answer of `take_in`. */
async function takeIn(aggregate = 'user/a', was = last): Promise<string[] | null> {
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
  const [row] = await sql<[{ woken: string[] | null }]>`
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
  await settle(sql, first!, sent)
  const second = await take()
  expect(Number(second!.position)).toBeGreaterThan(Number(first!.position))
  await settle(sql, second!, sent)
  const end = await take()
  expect(end!.position).toBeNull()
  await endChain(sql, end!)
  expect([...(await sql`select * from chains`)]).toEqual([])
})

test('an event is sent even if it comes between the last delivery and the end of its chain', async () => {
  await takeIn()
  await settle(sql, (await take())!, sent)
  const end = await take()
  await takeIn()
  await endChain(sql, end!)
  expect((await take())!.position).not.toBeNull()
})

test('an event is sent even if it was invisible when its chain was taken', async () => {
  await takeIn()
  const taken = await take()
  await endChain(sql, { ...taken!, position: null })
  expect((await take())!.position).toBe(taken!.position)
})

test('a worker that is too late records nothing: another worker has the chain', async () => {
  await takeIn()
  const late = await take()
  await sql`update chains set due_at = now()`
  const other = await take()
  await settle(sql, late!, sent)
  expect([...(await sql`select state from deliveries`)]).toEqual([{ state: 'queued' }])
  await settle(sql, other!, { state: 'failed', error: 'timeout', delay: 0, quick: false })
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
  await settle(sql, taken!, sent)
  const [{ state }] = await sql<[{ state: string }]>`select state from deliveries`
  expect(state).toBe('queued')
})
