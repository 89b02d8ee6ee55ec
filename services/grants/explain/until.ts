import { type Fragment, orUnavailable, readNow, type Sql } from '#lib/database/database'

/** A moment of the past: behind all events up to it. Its `time` holds for other services too. */
export interface Until {
  /** A place in the order of commits. Without it, the time decides. */
  place?: { transactionId: string; position: string }
  time: Date
}

/** Before all events. */
export const beginning: Until = { place: { transactionId: '0', position: '0' }, time: new Date(0) }

/** The moment behind all events up to a time; undefined for now. */
export async function untilTime(sql: Sql, time: Date): Promise<Until | undefined> {
  const now = await orUnavailable(readNow(sql))
  // PostgreSQL cannot read some times before the year 1, and no event is older than 1970.
  return time > now ? undefined : { time: new Date(Math.max(time.getTime(), 0)) }
}

/** The condition that an event `e` had happened by then. */
export function happenedBy(sql: Sql, until: Until | undefined): Fragment {
  if (!until) return sql`true`
  const { place, time } = until
  if (!place) return sql`e.created_at <= ${time}`
  return sql`(e.transaction_id, e.position) <= (${place.transactionId}::text::xid8, ${place.position}::text::bigint)`
}

/**
 * The organization of the event at a position, and the moment behind it. Undefined where there is none. An event whose
 * transaction began before, and is still open, counts from its commit on.
 */
export async function findPlace(
  sql: Sql,
  position: number,
): Promise<{ organizationId: string; until: Until } | undefined> {
  const [found] = await orUnavailable(sql<Row[]>`
    select transaction_id::text as "transactionId", position::text, created_at as time, organization_id as "organizationId"
    from events where position = ${position}
  `)
  if (!found) return undefined
  const { organizationId, time, ...place } = found
  return { organizationId, until: { place, time } }
}

interface Row {
  transactionId: string
  position: string
  time: Date
  organizationId: string
}
