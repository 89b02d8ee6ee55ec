import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EventFilter } from '#gen/roster/feed/v1/feed'
import { testServers } from '#test/support/servers'
import { openReplica, type Replica } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { filter } from '#test/support/feeds'
import { passesFilter } from '../events/recent-events.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import { read } from './feed-rows.ts'

const [types, ids, organizations] = [
  ['user', 'user_grant', 'us%r'],
  ['a', 'A', 'ü', "o'b"],
  ['o1', 'o2', '%'],
]
const words = ['added', 'email.changed', 'email.changed.v1', 'email_changed', 'EMAIL.changed', '100%', 'a\\b', '*']
const patterns = [
  '*',
  'user*',
  'user.*',
  'user_*',
  'us%r.*',
  'user.email.*',
  'user.em*il.*',
  'user.a\\*',
  '%',
  'user.%',
  '',
]
const longForms = ['user.added.v1', 'roster.user.added', 'user.added.v1.v2', 'user.*', 'user.*.v1', '*']
const wanted = [
  ...types.flatMap((type) => words.map((word) => `${type}.${word}`)),
  ...patterns.concat(longForms.map((form) => `roster.${form}`)),
]
const start = Date.UTC(2026, 0, 1)
const moment = fc.integer({ min: 0, max: 20 }).map((milliseconds) => new Date(start + milliseconds))
const some = (values: string[]) =>
  fc.oneof(fc.constant<string[]>([]), fc.subarray(values, { minLength: 1, maxLength: 3 }))
const filters: fc.Arbitrary<EventFilter> = fc.record({
  organizationId: fc.constantFrom('', '', '', ...organizations),
  aggregateTypes: some(types),
  aggregateIds: some(ids),
  eventTypes: some(wanted),
  actors: some(ids),
  since: fc.option(moment, { nil: undefined }),
})

let database: TestDatabase
let replica: Replica
let stored: StoredEvent[]

beforeAll(async () => {
  expect(testServers()).toBeDefined()
  database = await createDatabase()
  replica = await openReplica(database.urls.users)
  await replica.sql`
    insert into events
      (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    select aggregate_type, aggregate_id, row_number() over (), type, '{}', organization_id, creator, 'r',
      ${new Date(start)}::timestamptz + row_number() over () % 20000 * interval '1 microsecond'
    from unnest(${types}::text[]) aggregate_type, unnest(${words}::text[]) type, unnest(${ids}::text[]) aggregate_id,
      unnest(${organizations}::text[]) organization_id, unnest(${ids}::text[]) creator
  `
  stored = await all({})
})
afterAll(async () => {
  await replica?.stop()
  await database?.drop()
})

function all(wanted: Partial<EventFilter>) {
  const [first, last] = [
    { transactionId: 0, position: 0 },
    { transactionId: 2 ** 50, position: 0 },
  ]
  return read(replica.sql, first, last, filter(wanted), 10_000)
}

test('a filter passes the same events, whether they come from memory or from PostgreSQL', async () => {
  const positions = (events: StoredEvent[]) => events.map(({ position }) => position)
  let passed = 0
  await fc.assert(
    fc.asyncProperty(filters, async (drawn) => {
      const fromMemory = positions(stored.filter((event) => passesFilter(drawn, event)))
      passed += fromMemory.length
      expect(fromMemory).toEqual(positions(await all(drawn)))
    }),
    { numRuns: 500 },
  )
  expect(passed).toBeGreaterThan(1000)
})

test.each(wanted)('the event type %j passes the same events from both', async (eventType) => {
  const ofType = filter({ eventTypes: [eventType] })
  const fromMemory = stored.filter((event) => passesFilter(ofType, event))
  expect(fromMemory.map(({ position }) => position)).toEqual((await all(ofType)).map(({ position }) => position))
})
