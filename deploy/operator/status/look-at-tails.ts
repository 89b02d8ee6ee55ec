import type { Sql } from '#lib/eventstore/database'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import { type Backlog, eventsAfter } from './backlog.ts'

/** How far a service's events are published. */
export interface TailStatus extends Backlog {
  publishedAt: Date
  parked: number
  parkedForFollowers: number
}

/** How far the events of a service are published. */
export async function lookAtTail(sql: Sql): Promise<TailStatus> {
  const [{ place, ...row }] = await sql<[Omit<TailStatus, keyof Backlog> & { place: ChainPlace }]>`
    select json_build_object('transactionId', transaction_id::text, 'position', position::text) as place,
      published_at as "publishedAt", (select count(*)::int from parked_events) as parked,
      (select count(*)::int from parked_for_followers) as "parkedForFollowers"
    from published
  `
  return { ...(await eventsAfter(sql, place)), ...row }
}
