import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EventFilter, type EventPosition } from '#gen/roster/feed/v1/feed'
import { add, count, silent } from '#test/support/counters'
import { beginning, filter, type Feeds, messages, openFeeds } from '#test/support/feeds'
import { encodeEvent } from '../events/cloud-event.ts'
import type { Sql } from '../database/database.ts'
import { createFeed } from './feed.ts'

let feeds: Feeds
let a: Feeds['a']
let b: Feeds['b']
let feedOf: Feeds['feedOf']
let feed: Feeds['feed']
let allInMemory: Feeds['allInMemory']
let follow: Feeds['follow']
let stored: Feeds['stored']
let slowly: Feeds['slowly']

beforeAll(async () => {
  feeds = await openFeeds()
  ;({ a, b, feedOf, feed, allInMemory, follow, stored, slowly } = feeds)
})
afterAll(() => feeds?.stop())

const unreachable = (() => {
  throw new Error('PostgreSQL was asked')
}) as unknown as Sql

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

test('the events of the types that were asked for come with their data, the others without, from memory as from PostgreSQL', async () => {
  const after = (await feed({ fromEnd: true })).next
  await a.store.execute(add('asked', 'asked'))
  await a.store.execute(count('asked'))
  for (const from of [feed, feedOf(undefined, await allInMemory(), unreachable)]) {
    const shown = async (eventTypes: string[]) =>
      (await from({ after, dataOf: { eventTypes } })).events.map(({ event }) => [event!.dataOmitted, event!.data])
    expect(await shown(['counter.added'])).toEqual([
      ['', { name: 'asked' }],
      ['unasked', undefined],
    ])
    expect(await shown(['counter.*'])).toEqual([
      ['', { name: 'asked' }],
      ['', { by: '' }],
    ])
    expect(await shown([])).toEqual([
      ['unasked', undefined],
      ['unasked', undefined],
    ])
  }
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

test.each([
  ['the year 1', new Date('0001-01-01T00:00:00Z'), true],
  ['the year 9999', new Date('9999-12-31T23:59:59.999Z'), false],
])('since %s is a valid time, too', async (_, since, all) => {
  expect((await follow({ filter: filter({ since }) })).ids).toEqual(all ? await stored() : [])
})

test('an organization whose calls for events are too many loses its own, and a call whose deadline is over reads nothing', async () => {
  const ask = createFeed({ service: 'users', sql: b.sql, log: silent, messages })
  const request = (organizationId: string) => ({
    after: undefined,
    fromEnd: false,
    filter: filter({ organizationId }),
    limit: 1,
  })
  const flood = Array.from({ length: 1100 }, () => ask({}, request('hostile')))
  const other = ask({}, request('house'))
  const answers = await Promise.allSettled(flood)
  const refused = answers.filter((answer) => answer.status === 'rejected')
  // Two are made at a time, and a thousand wait.
  expect(refused.length).toBeGreaterThan(90)
  for (const { reason } of refused) expect(reason).toMatchObject({ reason: 'STORE_OVERLOADED' })
  expect((await other).events).toHaveLength(1)
  await expect(ask({}, request('house'), { deadline: Date.now() - 1 })).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
  })
})
