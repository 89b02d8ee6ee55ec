import type { Sql } from '#lib/eventstore/database'

/** How far a service's events are published. */
export interface TailStatus {
  /** Events that wait, counted to `most`. */
  waiting: number
  /** Seconds since the oldest of them was stored. */
  seconds: number
  publishedAt: Date
  parked: number
  parkedForFollowers: number
}

/** More waiting events are not counted. */
export const most = 10_000

/** How far the events of a service are published. */
export async function lookAtTail(sql: Sql): Promise<TailStatus> {
  const [row] = await sql<[TailStatus]>`
    select waiting, seconds, published_at as "publishedAt",
      (select count(*)::int from parked_events) as parked,
      (select count(*)::int from parked_for_followers) as "parkedForFollowers"
    from published, (
      select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
      from (
        select created_at from events
        where (transaction_id, position) > (select transaction_id, position from published)
        order by events.transaction_id, events.position limit ${most}
      ) next
    ) counted
  `
  return { ...row, seconds: Math.max(0, row.seconds) }
}
