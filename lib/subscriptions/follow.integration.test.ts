import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Event, ListEventsRequest } from '#gen/roster/feed/v1/feed'
import { testServers } from '#test/support/servers'
import { add, count, openReplica, type Replica, silent } from '#test/support/counters'
import { startTestMetrics } from '#test/support/metrics'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import { testMessages } from '#test/support/event-messages'
import { type Cable, layCable } from '#test/support/cable'
import { RosterError } from '../errors.ts'
import { hintSubject, writeHints } from '../events/hints.ts'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { openDatabase, orUnavailable, type Sql } from '../database/database.ts'
import { createFeed } from './feed.ts'
import { because, type FollowOptions, startFollowing } from './follow.ts'

const messages = testMessages({ CounterAdded: ['name'], CounterCounted: ['by'] })
const soon = { timeout: 15_000, interval: 20 }
const read = startTestMetrics()
const never = 2 ** 30
let database: TestDatabase
let cable: Cable & { url: string }
let replica: Replica
/** The follower's own way to the database. */
let sql: Sql
let nats: Nats
let other: Nats
let followers: Service[] = []
let handled: string[] = []
let number = 0

beforeAll(async () => {
  database = await createDatabase()
  cable = await layCable(database.urls.users)
  replica = await openReplica(database.urls.users)
  sql = openDatabase(cable.url, 'test', silent)
  const { users } = testServers().natsUrl
  nats = await connectNats(users, 'users', silent)
  other = await connectNats(users, 'users', silent)
})
beforeEach(async () => {
  handled = []
  number++
  await replica.sql`truncate events, aggregates, unique_keys, first_keys, counts, followers, parked_for_followers`
})
afterEach(async () => {
  await Promise.all(followers.splice(0).map((follower) => follower.stop()))
})
afterAll(async () => {
  await nats?.connection.close()
  await other?.connection.close()
  await replica?.stop()
  await sql?.end({ timeout: 1 })
  await cable?.stop()
  await database?.drop()
})

function follow(options: Partial<FollowOptions> = {}): Service {
  const feed = createFeed({ service: `users-${number}`, sql, log: silent, messages })
  const follower = startFollowing({
    name: 'test',
    // A name of its own, so that hints of other tests wake no follower here.
    service: `users-${number}`,
    feed: (request: ListEventsRequest) => feed({}, request),
    eventTypes: ['counter.added'],
    handle: async ({ aggregateId }) => void handled.push(aggregateId),
    sql,
    nats,
    log: silent,
    lookEvery: 20,
    ...options,
  })
  followers.push(follower)
  return follower
}

const ids = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => `c${first + i}`)
async function addCounters(all: string[]) {
  for (const id of all) await replica.store.execute(add(id, id))
}
const deadLetters = () =>
  replica.sql<{ tries: number; reason: string }[]>`select tries, reason from parked_for_followers`
const followed = (all: string[]) => vi.waitFor(() => expect(handled).toEqual(all), soon)
const place = () => replica.sql<{ position: string }[]>`select position from followers`
const placed = async (all: string[]) => {
  await followed(all)
  const [last] = await replica.sql<{ position: string }[]>`select max(position) as position from events`
  await vi.waitFor(async () => expect(await place()).toEqual([last]), soon)
}

test('a follower gets each event of its types once, in the order of commits, from the first one on', async () => {
  await addCounters(ids(1, 5))
  await replica.store.execute(count('c1'))
  follow()
  await addCounters(ids(6, 9))
  await placed(ids(1, 9))
})

test('a follower looks at a page at once, works on what needs it alone, and passes the rest', async () => {
  await addCounters(ids(1, 9))
  // A transaction of another test could hold some of them back from the first page.
  await untilForeignTransactionsEnd(replica.sql)
  const pages: number[] = []
  follow({
    async needWork(events) {
      pages.push(events.length)
      return new Set(events.filter(({ aggregateId }) => /[1357]$/.test(aggregateId)))
    },
  })
  await placed(['c1', 'c3', 'c5', 'c7'])
  expect(pages[0]).toBe(9)
})

test('a follower that was away goes on where it was', async () => {
  await addCounters(ids(1, 3))
  const first = follow()
  await placed(ids(1, 3))
  await first.stop()
  await addCounters(ids(4, 6))
  follow()
  await placed(ids(1, 6))
})

test('a hint wakes a follower at once; one about other events does not', async () => {
  follow({ lookEvery: never })
  await vi.waitFor(async () => expect(await place()).toHaveLength(1), soon)
  await addCounters(['c1'])
  // Otherwise no second look would find the event.
  await untilForeignTransactionsEnd(replica.sql)
  const hint = async (type: string) => {
    const event = { organization_id: 'house', aggregate_type: 'counter', type }
    other.connection.publish(hintSubject(`users-${number}`), writeHints([event]))
    await other.connection.flush()
    await nats.connection.flush()
  }
  await hint('counted')
  // Several times the pause between two looks.
  await sql`select pg_sleep(0.3)`
  expect(handled).toEqual([])
  await hint('added')
  await followed(['c1'])
})

test('an event whose work fails becomes a dead letter with an error, and is tried again until it works', async () => {
  const lines: { level: number; event?: string }[] = []
  let heals = false
  await addCounters(ids(1, 4))
  follow({
    log: pino({ level: 'error' }, { write: (line) => void lines.push(JSON.parse(line)) }),
    async handle({ aggregateId }) {
      if (aggregateId === 'c2' && !heals) throw new TypeError('no such thing')
      handled.push(aggregateId)
    },
  })
  await placed(['c1', 'c3', 'c4'])
  expect(await deadLetters()).toEqual([{ tries: 1, reason: 'TypeError: no such thing' }])
  await replica.sql`update parked_for_followers set next_try_at = now()`
  await vi.waitFor(async () => expect(await deadLetters()).toMatchObject([{ tries: 2 }]), soon)
  const logged = [{ level: 50, event: expect.stringMatching(/^users-\d+-\d+$/) }, { level: 50 }]
  await vi.waitFor(() => expect(lines).toMatchObject(logged), soon)
  const [{ pause }] = await replica.sql<[{ pause: number }]>`
    select extract(epoch from next_try_at - now())::float as pause from parked_for_followers
  `
  expect(pause).toBeGreaterThan(2)
  heals = true
  await replica.sql`update parked_for_followers set next_try_at = now()`
  await followed(['c1', 'c3', 'c4', 'c2'])
  await vi.waitFor(async () => expect(await deadLetters()).toEqual([]), soon)
})

test('a service that is away is waited for: no event becomes a dead letter, and none is lost', async () => {
  let away = true
  await addCounters(ids(1, 3))
  let tries = 0
  follow({
    async handle({ aggregateId }) {
      tries++
      if (away && aggregateId === 'c2') throw new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'Away.')
      handled.push(aggregateId)
    },
  })
  await vi.waitFor(() => expect(tries).toBeGreaterThan(2), soon)
  expect(handled).not.toContain('c3')
  expect(await deadLetters()).toEqual([])
  away = false
  await placed(ids(1, 3))
})

test('an event whose work always takes PostgreSQL too long becomes a dead letter, and the ones behind it go on', async () => {
  await addCounters(ids(1, 3))
  follow({
    async handle({ aggregateId }) {
      if (aggregateId === 'c2')
        await orUnavailable(
          sql.begin(async (transaction) => {
            await transaction`set local statement_timeout = 20`
            await transaction`select pg_sleep(10)`
          }),
        )
      handled.push(aggregateId)
    },
  })
  await followed(['c1', 'c3'])
  expect(await deadLetters()).toMatchObject([{ reason: expect.stringContaining('takes too long') }])
})

test('a follower outlives an outage of PostgreSQL', async () => {
  await addCounters(['c1'])
  follow()
  await placed(['c1'])
  cable.cut()
  await addCounters(ids(2, 3))
  cable.mend()
  await placed(ids(1, 3))
  expect(await deadLetters()).toEqual([])
})

test('work that a stop interrupts is done again', async () => {
  await addCounters(ids(1, 2))
  const reached = Promise.withResolvers<void>()
  const first = follow({
    async handle({ aggregateId }, stopped) {
      handled.push(aggregateId)
      if (aggregateId !== 'c2') return
      reached.resolve()
      await new Promise((resolve) => stopped.addEventListener('abort', resolve))
    },
  })
  await reached.promise
  await first.stop()
  expect(handled).toEqual(ids(1, 2))
  follow()
  await placed(['c1', 'c2', 'c2'])
})

test('two replicas together miss no event and keep one place', async () => {
  follow()
  follow()
  await addCounters(ids(1, 20))
  await vi.waitFor(() => expect(new Set(handled)).toEqual(new Set(ids(1, 20))), soon)
  const [last] = await replica.sql<{ position: string }[]>`select max(position) as position from events`
  await vi.waitFor(async () => expect(await place()).toEqual([last]), soon)
})

test('events at once: no more than asked for, and none is left behind', async () => {
  await addCounters(ids(1, 20))
  let [now, most] = [0, 0]
  follow({
    atOnce: 4,
    async handle({ aggregateId }) {
      most = Math.max(most, ++now)
      await replica.sql`select 1`
      now--
      handled.push(aggregateId)
    },
  })
  await vi.waitFor(() => expect([...handled].sort()).toEqual(ids(1, 20).sort()), soon)
  expect(most).toBe(4)
})

test('what is done because of an event names its actor, its request, and the event', () => {
  const event = { id: 'users-7', actor: 'boss', requestId: 'r' } as Event
  expect(because(event)).toMatchObject({ caller: { userId: 'boss' }, requestId: 'r', cause: 'users-7' })
})

test('a follower that stands still shows how many events wait, and for how long; one that goes on shows none', async () => {
  const lag = async () => (await read('roster.follower.lag'))['test']
  const age = async () => (await read('roster.follower.lag.age'))['test']
  await addCounters(ids(1, 3))
  await replica.sql`update events set created_at = created_at - interval '1 hour'`
  const { promise, resolve } = Promise.withResolvers<void>()
  follow({ handle: () => promise })
  await vi.waitFor(async () => expect(await lag()).toBe(3), soon)
  expect(await age()).toBeGreaterThanOrEqual(3600)
  expect(await age()).toBeLessThan(3700)
  resolve()
  await vi.waitFor(async () => expect([await lag(), await age()]).toEqual([0, 0]), soon)
})

test('events that cannot be counted count as waiting since the last count', async () => {
  await addCounters(ids(1, 1))
  follow({ feed: () => Promise.reject(new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'It is away.')) })
  const age = async () => (await read('roster.follower.lag.age'))['test']
  await vi.waitFor(async () => expect(await age()).toBeGreaterThan(10), { timeout: 20_000, interval: 200 })
}, 30_000)

test('the count of events that wait ends at 10,001, and an earlier service that cannot count reports nothing', async () => {
  await replica.sql`
    insert into events (
      position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id,
      created_at
    )
    overriding system value
    select number, '1'::xid8, 'counter', 'c' || number, 1, 'added', '{}', 'house', '', '', now()
    from generate_series(1, 10500) number
  `
  const feed = createFeed({ service: 'users', sql, log: silent, messages })
  const request = { after: { transactionId: 0, position: 0 }, fromEnd: false, filter: undefined, limit: 1 }
  expect((await feed({}, { ...request, countOnly: true })).behind).toBe(10_001)
  expect((await feed({}, request)).behind).toBeUndefined()
})
