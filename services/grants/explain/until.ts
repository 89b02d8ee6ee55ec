import type { ExplainPermissionRequest } from '#gen/roster/grants/v1/permission_service'
import { type Fragment, orUnavailable, type Sql } from '#lib/eventstore/database'

/** A moment of the past: behind all events up to it. Its `time` holds for other services too. */
export interface Until {
  /** A place in the order of commits. Without it, the time decides. */
  place?: { transactionId: string; position: string }
  time: Date
}

/** The moment that a request names; undefined for now. A place ahead is now: so nobody learns how far the log is. */
export async function readUntil(sql: Sql, asOf: ExplainPermissionRequest['asOf']): Promise<Until | undefined> {
  if (!asOf) return undefined
  if (asOf.$case === 'asOfPosition') return findPlace(sql, asOf.value)
  // PostgreSQL cannot read some times before the year 1, and no event is older than 1970.
  if (asOf.value.getTime() > Date.now()) return undefined
  return { time: new Date(Math.max(asOf.value.getTime(), 0)) }
}

/** The condition that an event `e` had happened by then. */
export function happenedBy(sql: Sql, until: Until | undefined): Fragment {
  if (!until) return sql`true`
  const { place, time } = until
  if (!place) return sql`e.created_at <= ${time}`
  return sql`(e.transaction_id, e.position) <= (${place.transactionId}::text::xid8, ${place.position}::text::bigint)`
}

// A position without an event means the one before it. No event can appear any more before one that is settled.
async function findPlace(sql: Sql, position: number): Promise<Until | undefined> {
  const [found] = await orUnavailable(sql<Row[]>`
    select (select max(position) from events) >= ${position} as "isThere", before.*
    from (select) one
    left join lateral (
      select transaction_id::text as "transactionId", position::text, created_at as time,
        transaction_id < pg_snapshot_xmin(pg_current_snapshot()) as "isSettled"
      from events where events.position <= ${position} order by events.position desc limit 1
    ) before on true
  `)
  const { isThere, isSettled, transactionId, position: last, time } = found!
  if (!isThere || isSettled === false) return undefined
  if (transactionId === null) return { place: { transactionId: '0', position: '0' }, time: new Date(0) }
  return { place: { transactionId, position: last! }, time: time! }
}

interface Row {
  isThere: boolean | null
  isSettled: boolean | null
  transactionId: string | null
  position: string | null
  time: Date | null
}
