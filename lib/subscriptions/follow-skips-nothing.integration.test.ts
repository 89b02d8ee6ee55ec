import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { ListEventsRequest } from '#gen/roster/feed/v1/feed'
import { testServers } from '#test/support/servers'
import { add, openReplica, type Replica, silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { testMessages } from '#test/support/event-messages'
import { RosterError } from '../errors.ts'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { createFeed } from './feed.ts'
import { startFollowing } from './follow.ts'

// The quick half of follow.integration.test.ts.

const messages = testMessages({ CounterAdded: ['name'], CounterCounted: ['by'] })
const soon = { timeout: 15_000, interval: 20 }
let database: TestDatabase
let replica: Replica
let nats: Nats

beforeAll(async () => {
  database = await createDatabase()
  replica = await openReplica(database.urls.users)
  nats = await connectNats(testServers().natsUrl.users, 'users', silent)
})
afterAll(async () => {
  await nats?.connection.close()
  await replica?.stop()
  await database?.drop()
})
beforeEach(async () => {
  await replica.sql`truncate events, aggregates, unique_keys, first_keys, counts, followers, parked_for_followers`
  for (const id of ['a', 'b', 'c']) await replica.store.execute(add(id, id))
})

/** Follows three events. The work on the second one fails once. */
function follow(failure: Error): { follower: Service; handled: string[] } {
  const handled: string[] = []
  const feed = createFeed({ service: 'skipping', sql: replica.sql, log: silent, messages })
  let tries = 0
  const follower = startFollowing({
    name: 'test',
    service: 'skipping',
    feed: (request: ListEventsRequest) => feed({}, request),
    eventTypes: ['counter.added'],
    async handle({ aggregateId }) {
      if (aggregateId === 'b' && tries++ === 0) throw failure
      handled.push(aggregateId)
    },
    sql: replica.sql,
    nats,
    log: silent,
    lookEvery: 20,
  })
  return { follower, handled }
}

test.each([
  ['a service is away waits', new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'Away.'), ['a', 'b', 'c']],
  ['its work fails comes again behind the others', new Error('broken'), ['a', 'c', 'b']],
])('an event for which %s, and none is skipped', async (_what, failure, order) => {
  const { follower, handled } = follow(failure)
  try {
    await vi.waitFor(() => expect(handled).toEqual(order), soon)
  } finally {
    await follower.stop()
  }
})
