import { afterAll, beforeAll, expect, test } from 'vitest'
import { pino } from 'pino'
import { type ListedEvent, ListEventsResponse } from '#gen/roster/feed/v1/feed'
import { beginning, filter, type Feeds, messages, openFeeds } from '#test/support/feeds'
import type { Log } from '../log.ts'
import { createFeed } from './feed.ts'
import { read } from './feed-rows.ts'

let feeds: Feeds
let a: Feeds['a']
let b: Feeds['b']
let feed: Feeds['feed']
let follow: Feeds['follow']
let stored: Feeds['stored']
let slowly: Feeds['slowly']

beforeAll(async () => {
  feeds = await openFeeds()
  ;({ a, b, feed, follow, stored, slowly } = feeds)
})
afterAll(() => feeds?.stop())

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

test.each([
  ['a time before our era', `created_at = '4000-01-01 BC'`, { sequence: 1, time: new Date(0) }],
  ['a time after all others', `created_at = 'infinity'`, { sequence: 1, time: new Date(0) }],
  ['a year of five digits', `created_at = '12000-01-01'`, { sequence: 1, time: new Date(0) }],
  ['a sequence that no client reads', `sequence = 9007199254740993`, { sequence: 0, time: expect.any(Date) }],
])('an event with %s comes without its data, and holds up no other', async (_, change, shown) => {
  const { next } = await follow({})
  for (const id of ['odd', 'behind-odd']) await (await slowly(id)).commit()
  await a.sql.unsafe(`update events set ${change} where aggregate_id = 'odd'`)
  const { events } = await feed({ after: next })
  const read = ListEventsResponse.decode(ListEventsResponse.encode({ events, next, endReached: true }).finish())
  expect(read.events.map(({ event }) => event)).toEqual([
    expect.objectContaining({ aggregateId: 'odd', dataOmitted: 'unreadable', data: undefined, ...shown }),
    expect.objectContaining({ aggregateId: 'behind-odd', dataOmitted: '', data: { name: 'behind-odd' } }),
  ])
  await a.sql`delete from events where aggregate_id in ('odd', 'behind-odd')`
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
