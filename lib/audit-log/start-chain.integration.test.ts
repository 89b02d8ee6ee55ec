import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Chains, openChains } from '#test/support/chains'
import { add, count, type Replica } from '#test/support/counters'
import { insertEvent } from '#test/support/publishing'
import { keepRecentEvents } from '../events/recent-events.ts'
import type { Sql } from '../database/database.ts'
import { eventColumns } from '../eventstore/event-page.ts'
import type { AuditedRow } from './canonical-row.ts'
import { checkpointsAfter } from './chain-rows.ts'
import { readCheckpoint } from './checkpoint.ts'
import { readEntries, rowHash, rowKey } from './page.ts'

let chains: Chains
let [a, b]: Replica[] = []
let sql: Sql

beforeAll(async () => {
  chains = await openChains()
  ;({ a, b, sql } = chains)
})
afterEach(() => chains?.stop())
afterAll(() => chains?.end())

const start: Chains['start'] = (...options) => chains.start(...options)
const everythingIsChained = () => chains.everythingIsChained()
const everythingIsSigned = () => chains.everythingIsSigned()

async function untilPublished() {
  await vi.waitFor(
    async () => {
      const [row] = await sql`
        select exists (select from events e, published p where (e.transaction_id, e.position) > (p.transaction_id, p.position)) as waits
      `
      expect(row!['waits']).toBe(false)
    },
    { timeout: 15_000 },
  )
}

async function lastEvent(): Promise<AuditedRow> {
  const [row] = await sql<AuditedRow[]>`select ${eventColumns(sql)} from events order by events.position desc limit 1`
  return row!
}

/** Expects that the chain has the event as it is. */
async function expectChained(row: AuditedRow) {
  const pages = await sql`select salt, entries from audit_pages`
  const page = pages.find(({ entries }) => readEntries(entries).has(row.position))
  expect(readEntries(page!['entries']).get(row.position)).toBe(rowHash(rowKey(page!['salt'], row.position), row))
}

test('what was stored before the chain began is in it, in the order of commits', async () => {
  await a!.store.execute(add('old', 'old'))
  for (let i = 0; i < 20; i++) await a!.store.execute(count('old'))
  start(0, { recent: 'none' })
  await everythingIsChained()
})

test('two replicas under load make one chain, with and without the events that the outbox knows', async () => {
  start(0)
  start(1)
  await Promise.all(Array.from({ length: 20 }, (_, i) => [a!, b!][i % 2]!.store.execute(add(`c${i}`, `c${i}`))))
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 200 }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${i % 20}`))))
    await everythingIsChained()
  }
  const pages = await sql`select number::int, header from audit_pages order by number`
  expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index + 1))
})

test('a dead letter of the outbox is in the chain', async () => {
  await insertEvent(sql, { id: 'parked', type: 'unheard.of' })
  await vi.waitFor(async () => expect((await sql`select from parked_events`).count).toBe(1), { timeout: 15_000 })
  start()
  await everythingIsChained()
})

test('the chain goes on where it stopped, however far the outbox is meanwhile', async () => {
  for (let i = 0; i < 30; i++) await b!.store.execute(count('c1'))
  await untilPublished()
  expect((await chains.state())['events']).toBeLessThan((await chains.state())['stored'])
  start(0, { recent: 'none' })
  await everythingIsChained()
})

test('an event that PostgreSQL does not have any more is not added', async () => {
  const ghost = { ...(await lastEvent()), position: '99000000', transaction_id: '99000000' }
  // Before the start, since only its first look asks PostgreSQL; published, since that look passes over what is not settled.
  await a!.store.execute(count('old'))
  await untilPublished()
  start(0, { recent: { after: () => [ghost], add() {}, clear() {} } })
  await everythingIsChained()
  // Now it takes what it is given.
  await a!.store.execute(count('old'))
  const looked = chains.asked()
  await vi.waitFor(() => expect(chains.asked()).toBeGreaterThan(looked + 4), { timeout: 20_000 })
  expect((await sql`select from audit_pages where position = 99000000`).count).toBe(0)
  await chains.stop()
  start()
  await everythingIsChained()
  await everythingIsSigned()
})

test('while it is held, nothing is added; then it begins anew, and the next checkpoint says why', async () => {
  const before = await chains.state()
  start()
  await sql`select audit_hold()`
  await a!.store.execute(count('old'))
  await untilPublished()
  // The outbox has published it as it was before.
  await sql`update events set creator = 'by hand' where position = (select max(position) from events)`
  const looked = chains.asked()
  await vi.waitFor(() => expect(chains.asked()).toBeGreaterThan(looked + 2), { timeout: 20_000 })
  expect(await chains.state()).toMatchObject({ pages: 0, hash: before['hash'] })
  await sql`select audit_begin('sealed')`
  await everythingIsChained()
  await everythingIsSigned()
  const [last] = (await checkpointsAfter(sql, 0, 1000)).slice(-1).map(({ jws }) => readCheckpoint(jws))
  expect(last!.checkpoint).toMatchObject({ epoch: 2, reason: 'sealed', events: (await chains.state())['stored'] })
  const [first] = await sql`select header from audit_pages order by number limit 1`
  expect(JSON.parse(first!['header'])).toMatchObject({ page: before['page'] + 1, previous: before['hash'], epoch: 2 })
  await expectChained(await lastEvent())
})

test('after it started a new epoch, a replica that had seen the end before takes no event as the outbox knew it', async () => {
  const recent = keepRecentEvents()
  start(0, { recent })
  await a!.store.execute(count('old'))
  await everythingIsChained()
  const rows = await sql<
    AuditedRow[]
  >`select ${eventColumns(sql)} from events order by events.transaction_id, events.position`
  recent.add({ transaction_id: '0', position: '0' }, rows, 1000)
  await sql`select audit_hold()`
  await sql`update events set creator = 'by hand again' where position = (select max(position) from events)`
  await sql`select audit_begin('sealed again')`
  await everythingIsChained()
  await expectChained(await lastEvent())
})
