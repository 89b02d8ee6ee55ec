import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { pino } from 'pino'
import {
  type EventFilter,
  type EventPosition,
  type ListedEvent,
  type ListEventsRequest,
  ListEventsResponse,
} from '#gen/roster/feed/v1/feed'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import { encodeEvent } from '../events/cloud-event.ts'
import { testMessages } from '#test/support/event-messages'
import type { Log } from '../log.ts'
import { keepRecentEvents, type RecentEvents } from '../events/recent-events.ts'
import type { Sql } from './database.ts'
import { createFeed } from './feed.ts'
import { read } from './feed-rows.ts'
import { add, count, openReplica, type Replica, silent } from '#test/support/counters'

const messages = testMessages({ CounterAdded: ['name'], CounterCounted: ['by'], OtherAdded: ['name'] })
const beginning = { transactionId: 0, position: 0 }
let database: TestDatabase
let a: Replica
let b: Replica
let feed: (request: Partial<ListEventsRequest>) => ReturnType<ReturnType<typeof createFeed>>

beforeAll(async () => {
  expect(inject('servers')).toBeDefined()
  database = await createDatabase()
  ;[a, b] = [await openReplica(database.urls.users), await openReplica(database.urls.users)]
  feed = feedOf()
})

afterAll(async () => {
  await Promise.all([a, b].map((replica) => replica?.stop()))
  await database?.drop()
})

function feedOf(mostLookedAt?: number, recent?: RecentEvents, sql = b.sql) {
  const answer = createFeed({
    service: 'users',
    sql,
    log: silent,
    messages,
    ...(recent && { recent }),
    ...(mostLookedAt && { mostLookedAt }),
  })
  return async (request: Partial<ListEventsRequest>) => {
    await untilForeignTransactionsEnd(b.sql)
    return answer({}, { after: undefined, fromEnd: false, filter: undefined, limit: 1000, ...request })
  }
}

/** All events, as a tail that has just read them has them. */
async function allInMemory(): Promise<RecentEvents> {
  const recent = keepRecentEvents()
  const rows = await read(b.sql, beginning, { transactionId: 2 ** 50, position: 0 }, filter({}), 10_000)
  recent.add({ transaction_id: '0', position: '0' }, rows, 1000)
  return recent
}

const unreachable = (() => {
  throw new Error('PostgreSQL was asked')
}) as unknown as Sql

const filter = (wanted: Partial<EventFilter>): EventFilter => ({
  organizationId: '',
  aggregateTypes: [],
  aggregateIds: [],
  eventTypes: [],
  actors: [],
  since: undefined,
  ...wanted,
})

/** The ids of all events after a position, page by page. */
async function follow(request: Partial<ListEventsRequest>, from?: EventPosition, ask = feed) {
  const ids: string[] = []
  let pages = 0
  for (let after = from; ; pages++) {
    const { events, next, endReached } = await ask({ ...request, after })
    ids.push(...events.map(({ event }) => event!.id))
    if (endReached) return { ids, next: next!, pages }
    after = next
  }
}

async function stored(): Promise<string[]> {
  const rows = await a.sql<{ id: string }[]>`
    select 'users-' || position as id from events order by events.transaction_id, events.position
  `
  return rows.map(({ id }) => id)
}

/** Inserts an event in a transaction that stays open until `commit`. */
async function slowly(id: string, { organization = 'house', at = new Date() } = {}) {
  const [inserted, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = a.sql.begin(async (sql) => {
    await sql`insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
      values ('other', ${id}, 1, 'added', ${sql.json({ name: id })}, ${organization}, 'somebody', 'r', ${at})`
    inserted.resolve()
    await commit.promise
  })
  await inserted.promise
  return { commit: () => (commit.resolve(), done) }
}

test('an event is listed as it is published', async () => {
  await a.store.execute(add('first', 'first'))
  const { events } = await feed({})
  const [row] = await a.sql`select *, transaction_id::text from events`
  const { head, data } = encodeEvent('users', row as never, messages)
  const headers = Object.fromEntries(
    head
      .trim()
      .split('\r\n')
      .map((line) => line.split(': ', 2)),
  )
  const { event } = events[0]!
  expect(event!.data).toEqual(JSON.parse(data))
  expect(event).toMatchObject({
    id: headers['ce-id'],
    source: headers['ce-source'],
    type: headers['ce-type'],
    organizationId: headers['ce-organization'],
    sequence: Number(headers['ce-sequence']),
    dataSchema: headers['ce-dataschema'],
    requestId: headers['ce-requestid'],
    actor: '',
    cause: '',
  })
  expect(event!.time!.toISOString()).toBe(headers['ce-time'])
})

test('a follower gets every event once, even while slow transactions commit out of order', async () => {
  const seen: string[] = []
  let after: EventPosition | undefined
  let over = false
  const following = (async () => {
    for (;;) {
      const last = over
      const { events, next, endReached } = await feed({ after, limit: 7 })
      seen.push(...events.map(({ event }) => event!.id))
      after = next
      if (last && endReached) return
    }
  })()
  await Promise.all(Array.from({ length: 20 }, (_, i) => a.store.execute(add(`c${i}`, `c${i}`))))
  for (let round = 0; round < 5; round++) {
    const slow = [await slowly(`slow-${round}-1`), await slowly(`slow-${round}-2`), await slowly(`slow-${round}-3`)]
    await Promise.all(Array.from({ length: 60 }, (_, i) => [a, b][i % 2]!.store.execute(count(`c${(i * 7) % 20}`))))
    for (const { commit } of [slow[1]!, slow[2]!, slow[0]!]) {
      await Promise.all(Array.from({ length: 10 }, (_, i) => b.store.execute(count(`c${i}`))))
      await commit()
    }
  }
  over = true
  await following
  expect(seen).toEqual(await stored())
})

test('an older transaction holds back events, and they come once it ends', async () => {
  const { next } = await follow({})
  const slow = await slowly('holds')
  await b.store.execute(add('held', 'held'))
  const meanwhile = await feed({ after: next })
  expect(meanwhile).toMatchObject({ events: [], endReached: true })
  await slow.commit()
  expect((await follow({}, meanwhile.next)).ids).toEqual((await stored()).slice(-2))
})

test.each([1, 3, 1000])('pages of %i give the same events', async (limit) => {
  expect((await follow({ limit })).ids).toEqual(await stored())
})

test('one call looks at a limited number of rows, and the next call finds the rows behind them', async () => {
  const { events } = await feed({ filter: filter({ aggregateIds: ['held'] }) })
  const bounded = feedOf(10)
  const one = await bounded({ filter: filter({ aggregateIds: ['held'] }) })
  expect(one).toMatchObject({ events: [], endReached: false })
  const found = await follow({ filter: filter({ aggregateIds: ['held'] }) }, undefined, bounded)
  expect(found.ids).toEqual(events.map(({ event }) => event!.id))
  expect(found.pages).toBeGreaterThan((await stored()).length / 10 - 2)
  expect((await follow({}, undefined, bounded)).ids).toEqual(await stored())
})

test.each(['in PostgreSQL', 'in memory'])('each filter passes the events that it names, %s', async (where) => {
  const id = `elsewhere ${where}`
  await (await slowly(id, { organization: 'else%where' })).commit()
  const ask = where === 'in memory' ? feedOf(undefined, await allInMemory(), unreachable) : feed
  const types = async (wanted: Partial<EventFilter>) => {
    const { events } = await ask({ after: beginning, filter: filter(wanted) })
    return [...new Set(events.map(({ event }) => `${event!.aggregateType} ${event!.type}`))].sort()
  }
  const [added, counted] = ['counter roster.counter.added.v1', 'counter roster.counter.counted.v1']
  const other = 'other roster.other.added.v1'
  expect(await types({})).toEqual([added, counted, other])
  expect(await types({ aggregateTypes: ['other'] })).toEqual([other])
  expect(await types({ eventTypes: ['counter.added', 'roster.counter.counted.v1'] })).toEqual([added, counted])
  expect(await types({ eventTypes: ['counter.*'] })).toEqual([added, counted])
  expect(await types({ eventTypes: ['*'] })).toEqual([added, counted, other])
  expect(await types({ eventTypes: ['counter.add', '%', 'counter_added', 'other.*.x'] })).toEqual([])
  expect(await types({ organizationId: 'else%where' })).toEqual([other])
  expect(await types({ organizationId: 'else' })).toEqual([])
  // Events of other organizations are not even looked at.
  const { events } = await feedOf(10)({ filter: filter({ organizationId: 'else%where' }) })
  expect(events.length).toBeGreaterThan(0)
  expect(await types({ actors: ['somebody'] })).toEqual([other])
  expect(await types({ aggregateIds: ['held', 'c1'], aggregateTypes: ['counter'] })).toEqual([added, counted])
})

test.each([1, 3, 1000])(
  'pages of %i from memory give the same events, and the newest come from PostgreSQL',
  async (limit) => {
    const recent = await allInMemory()
    const known = await stored()
    await a.store.execute(add(`newest-${limit}`, `newest-${limit}`))
    const { ids } = await follow({ limit }, beginning, feedOf(undefined, recent))
    expect(ids).toEqual(await stored())
    expect(ids.length).toBe(known.length + 1)
    // A call that asks for the end of what is known does not say that there is no more.
    expect(await feedOf(undefined, recent, unreachable)({ after: beginning })).toMatchObject({ endReached: false })
  },
)

test('from the end, only new events come', async () => {
  const slow = await slowly('under-way')
  const { events, next, endReached } = await feed({ fromEnd: true })
  expect([events, endReached]).toEqual([[], true])
  await b.store.execute(add('after-the-end', 'after-the-end'))
  await slow.commit()
  expect((await follow({}, next)).ids).toEqual((await stored()).slice(-2))
})

test('the next position is never ahead of the last event, as a crash may reuse transaction ids', async () => {
  const last = (await follow({ limit: 1 })).next
  const [found] = await a.sql<{ id: string }[]>`
    select transaction_id || ' ' || position as id from events
    order by events.transaction_id desc, events.position desc limit 1
  `
  for (let n = 0; n < 3; n++) await a.sql`select pg_current_xact_id()`
  const places = [last, (await feed({ after: last })).next!, (await feed({ fromEnd: true })).next!]
  expect(places.map(({ transactionId, position }) => `${transactionId} ${position}`)).toEqual(
    places.map(() => found!.id),
  )
})

test('a position ahead of all events, as after PostgreSQL was set back, continues from the present', async () => {
  const { events, next } = await feed({ after: { transactionId: 1e12, position: 1 } })
  expect(events).toEqual([])
  await a.store.execute(add('after-that', 'after-that'))
  expect((await follow({}, next)).ids).toEqual((await stored()).slice(-1))
})

test('since a time: later events are found without a look at all older ones', async () => {
  const day = 24 * 60 * 60 * 1000
  await a.sql`update events set created_at = now() - interval '2 days' + position * interval '1 second'`
  await (await slowly('of-yesterday', { at: new Date(Date.now() - day) })).commit()
  await (await slowly('of-today')).commit()
  const bounded = feedOf(100)
  const names = async (since: Date) => (await follow({ filter: filter({ since }) }, undefined, bounded)).ids
  const all = await stored()
  expect(all.length).toBeGreaterThan(300)
  expect(await names(new Date(Date.now() - 1.5 * day))).toEqual(all.slice(-2))
  expect(await names(new Date(Date.now() - day / 2))).toEqual(all.slice(-1))
  expect(await names(new Date(Date.now() + day))).toEqual([])
  expect(await names(new Date(0))).toEqual(all)
  const first = await bounded({ filter: filter({ since: new Date(Date.now() - day / 2) }) })
  expect(first.events).toHaveLength(1)
})

test('an answer never exceeds the limit of NATS, and the rest comes with the next one', async () => {
  const name = 'n'.repeat(200_000)
  for (let n = 0; n < 8; n++) await (await slowly(`large-${n}-${name.slice(0, 10)}`)).commit()
  await a.sql`update events set payload = jsonb_build_object('name', ${name}::text) where aggregate_id like 'large-%'`
  const { next } = await feed({ limit: 1, after: beginning })
  const { events } = await feed({ after: next })
  expect(events.length).toBeGreaterThan(0)
  expect((await follow({})).ids).toEqual(await stored())
  const large = await feed({ filter: filter({ aggregateIds: [`large-0-${name.slice(0, 10)}`] }) })
  expect(large.events).toHaveLength(1)
  expect((await feed({ filter: filter({ since: new Date(Date.now() - 60_000) }) })).events.length).toBeLessThan(5)
})

test('an old event that fits no answer or proto/ comes without its data, and all others come', async () => {
  const { next } = await follow({})
  for (const id of ['before', 'too-large', 'unreadable', 'unheard-of', 'behind']) await (await slowly(id)).commit()
  await a.sql`update events set payload = jsonb_build_object('name', repeat('n', 3000000)) where aggregate_id = 'too-large'`
  await a.sql`update events set payload = '{"surprise": 1}' where aggregate_id = 'unreadable'`
  await a.sql`update events set type = 'unheard.of' where aggregate_id = 'unheard-of'`
  expect((await follow({}, next)).ids).toEqual((await stored()).slice(-5))

  const lines: { level: number; event: string }[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) }) as Log
  const ask = createFeed({ service: 'users', sql: b.sql, log, messages })
  for (let round = 0; round < 2; round++) {
    const events: ListedEvent[] = []
    for (let [after, endReached] = [next, false]; !endReached;) {
      const answer = await ask({}, { after, fromEnd: false, filter: undefined, limit: 1000 })
      expect(ListEventsResponse.encode(answer).finish().length).toBeLessThan(2_000_000)
      events.push(...answer.events)
      ;[after, endReached] = [answer.next!, answer.endReached]
    }
    expect(events.map(({ event }) => [event!.aggregateId, event!.type, event!.data, event!.dataOmitted])).toEqual([
      ['before', 'roster.other.added.v1', { name: 'before' }, ''],
      ['too-large', 'roster.other.added.v1', undefined, 'size'],
      ['unreadable', 'roster.other.added.v1', undefined, 'unreadable'],
      ['unheard-of', 'roster.other.unheard.of.v1', undefined, 'unreadable'],
      ['behind', 'roster.other.added.v1', { name: 'behind' }, ''],
    ])
  }
  expect(lines.map(({ level }) => level)).toEqual([50, 50, 50])
  await a.sql`delete from events where aggregate_id in ('too-large', 'unreadable', 'unheard-of')`
})

test('a page of large events is read in portions', async () => {
  const { next } = await follow({})
  for (let n = 0; n < 30; n++) await (await slowly(`portion-${n}`)).commit()
  await a.sql`update events set payload = jsonb_build_object('name', repeat('n', 250000)) where aggregate_id like 'portion-%'`
  const [row] = await read(b.sql, next, { transactionId: Number.MAX_SAFE_INTEGER, position: 0 }, filter({}), 1000)
  expect(row!.found).toBe(30)
  expect(
    await read(b.sql, next, { transactionId: Number.MAX_SAFE_INTEGER, position: 0 }, filter({}), 1000),
  ).toHaveLength(5)
  expect((await follow({}, next)).ids).toEqual((await stored()).slice(-30))
})

test.each([
  ['the year 1', new Date('0001-01-01T00:00:00Z'), true],
  ['the year 9999', new Date('9999-12-31T23:59:59.999Z'), false],
])('since %s is a valid time, too', async (_, since, all) => {
  expect((await follow({ filter: filter({ since }) })).ids).toEqual(all ? await stored() : [])
})
