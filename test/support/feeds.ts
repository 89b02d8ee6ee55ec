import { createFeed } from '#lib/subscriptions/feed'
import { read } from '#lib/subscriptions/feed-rows'
import { keepRecentEvents, type RecentEvents } from '#lib/events/recent-events'
import type { Sql } from '#lib/database/database'
import type { EventFilter, EventPosition, ListEventsRequest } from '#gen/roster/feed/v1/feed'
import { openReplica, type Replica, silent } from './counters.ts'
import { createDatabase } from './database.ts'
import { testMessages } from './event-messages.ts'
import { untilForeignTransactionsEnd } from './foreign-transactions.ts'

export const messages = testMessages({ CounterAdded: ['name'], CounterCounted: ['by'], OtherAdded: ['name'] })
export const beginning = { transactionId: 0, position: 0 }

type Ask = (request: Partial<ListEventsRequest>) => ReturnType<ReturnType<typeof createFeed>>

/** Two replicas of a service, and its feed. */
export type Feeds = Awaited<ReturnType<typeof openFeeds>>

/** A filter that passes all, but for what is wanted. */
export const filter = (wanted: Partial<EventFilter>): EventFilter => ({
  organizationId: '',
  aggregateTypes: [],
  aggregateIds: [],
  eventTypes: [],
  actors: [],
  since: undefined,
  ...wanted,
})

export async function openFeeds() {
  const database = await createDatabase()
  const [a, b]: [Replica, Replica] = [await openReplica(database.urls.users), await openReplica(database.urls.users)]

  function feedOf(mostLookedAt?: number, recent?: RecentEvents, sql: Sql = b.sql): Ask {
    const answer = createFeed({
      service: 'users',
      sql,
      log: silent,
      messages,
      ...(recent && { recent }),
      ...(mostLookedAt && { mostLookedAt }),
    })
    return async (request) => {
      await untilForeignTransactionsEnd(b.sql)
      return answer({}, { after: undefined, fromEnd: false, filter: undefined, limit: 1000, ...request })
    }
  }
  const feed = feedOf()

  return {
    a,
    b,
    feedOf,
    feed,
    /** All events, as an outbox that has just read them has them. */
    async allInMemory(): Promise<RecentEvents> {
      const recent = keepRecentEvents()
      const rows = await read(b.sql, beginning, { transactionId: 2 ** 50, position: 0 }, filter({}), 10_000)
      recent.add({ transaction_id: '0', position: '0' }, rows, 1000)
      return recent
    },
    /** The ids of all events after a position, page by page. */
    async follow(request: Partial<ListEventsRequest>, from?: EventPosition, ask: Ask = feed) {
      const ids: string[] = []
      let pages = 0
      for (let after = from; ; pages++) {
        const { events, next, endReached } = await ask({ ...request, after })
        ids.push(...events.map(({ event }) => event!.id))
        if (endReached) return { ids, next: next!, pages }
        after = next
      }
    },
    async stored(): Promise<string[]> {
      const rows = await a.sql<{ id: string }[]>`
        select 'users-' || position as id from events order by events.transaction_id, events.position
      `
      return rows.map(({ id }) => id)
    },
    /** Inserts an event in a transaction that stays open until `commit`. */
    async slowly(id: string, { organization = 'house', at = new Date() } = {}) {
      const [inserted, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const done = a.sql.begin(async (sql) => {
        await sql`insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
          values ('other', ${id}, 1, 'added', ${sql.json({ name: id })}, ${organization}, 'somebody', 'r', ${at})`
        inserted.resolve()
        await commit.promise
      })
      await inserted.promise
      return { commit: () => (commit.resolve(), done) }
    },
    async stop() {
      await Promise.all([a, b].map((replica) => replica.stop()))
      await database.drop()
    },
  }
}
