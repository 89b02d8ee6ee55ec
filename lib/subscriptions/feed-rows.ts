import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import { plainType } from '../events/event-type.ts'
import type { Sql } from '../database/database.ts'
import { readPage } from '../eventstore/event-page.ts'

/** The place of a row, as a statement selects it. */
export interface Place {
  transaction_id: string
  position: string
}

const beginning: EventPosition = { transactionId: 0, position: 0 }

/**
 * Returns the position to begin at for events since this time; without a time, the beginning. A binary search over the
 * positions works, because events are created and numbered nearly in commit order. It goes back one minute further,
 * which covers slow transactions and the clocks of replicas.
 */
export async function findStart(sql: Sql, since: Date | undefined): Promise<EventPosition> {
  if (!since) return beginning
  // PostgreSQL cannot read some times before the year 1, and no event is older than 1970.
  const time = new Date(Math.max(since.getTime() - 60_000, 0))
  const [found] = await sql<(Place & { older: boolean })[]>`
    with recursive halves as (
      select 0::bigint as low, coalesce((select max(position) from events), 0) as high
      union all
      select case when older then middle else low end, case when older then high else middle end
      from halves
      cross join lateral (select (low + high) / 2 as middle) halved
      cross join lateral (
        select coalesce((select created_at < ${time} from events where position > middle order by position limit 1), false) as older
      ) looked
      where high - low > 1
    )
    select transaction_id::text, position, created_at < ${time} as older from events
    where position > (select max(low) from halves)
    order by events.position limit 1
  `
  return found?.older ? toPosition(found) : beginning
}

/**
 * Returns the last row of a window of rows after a place. The rows are settled: they are older than the oldest running
 * transaction, so that no row can appear between them any more. Where the filter names an organization, only its rows
 * count.
 * `endReached`: no row follows. Without any row, returns the place itself. Never returns a place that no row has: after
 * a crash, PostgreSQL reuses the ids of transactions that left nothing behind.
 */
export async function look(sql: Sql, after: EventPosition, { organizationId }: EventFilter, window: number) {
  const [found] = await sql<(Partial<Place> & { settled: string; number: string | null })[]>`
    select settled::text, transaction_id::text, position, number
    from (select settled_below() as settled) running
    left join lateral (
      select transaction_id, position, row_number() over (order by events.transaction_id, events.position) as number
      from events
      where (transaction_id, position) > (${String(after.transactionId)}::xid8, ${after.position}) and transaction_id < settled
        ${ofOrganization(sql, organizationId)}
      order by events.transaction_id, events.position
      limit ${window}
    ) seen on true
    order by number desc limit 1
  `
  const { settled, transaction_id, position, number } = found!
  if (transaction_id && position)
    return { last: toPosition({ transaction_id, position }), endReached: Number(number) < window }
  // A place ahead of all rows comes from before PostgreSQL was set back.
  return {
    last: after.transactionId < Number(settled) ? after : { transactionId: Number(settled), position: 0 },
    endReached: true,
  }
}

/** Events that are counted, at most: the count must stay cheap where many wait. */
const mostCounted = 10_000

/** Counts the committed rows after a place, without those of before a time, and returns the time of the first one. */
export async function countBehind(sql: Sql, after: EventPosition, since: Date | undefined) {
  const [found] = await sql<[{ behind: number; behindSince: Date | null }]>`
    select count(*)::int as behind, min(created_at) as "behindSince"
    from (
      select created_at from events
      where (transaction_id, position) > (${String(after.transactionId)}::xid8, ${after.position})
      order by events.transaction_id, events.position limit ${mostCounted + 1}
    ) next
    ${since ? sql`where created_at >= ${since}` : sql``}
  `
  return { behind: found.behind, behindSince: found.behindSince ?? undefined }
}

/** The last settled row. */
export async function findEnd(sql: Sql, { organizationId }: EventFilter): Promise<EventPosition> {
  const [found] = await sql<Place[]>`
    select transaction_id::text, position from events
    where transaction_id < settled_below() ${ofOrganization(sql, organizationId)}
    order by events.transaction_id desc, events.position desc limit 1
  `
  return found ? toPosition(found) : beginning
}

/** Bytes of payloads to read at a time. The last event may exceed it. */
const mostBytes = 1024 * 1024

/**
 * Reads the events that pass the filter, in commit order, after one place and up to another. `found` also counts the
 * events that are left out because they are too large to read at a time.
 */
export function read(sql: Sql, after: EventPosition, upTo: EventPosition, filter: EventFilter, limit: number) {
  const { organizationId, aggregateTypes, aggregateIds, eventTypes, actors, since } = filter
  const where = sql`
    (transaction_id, position) > (${String(after.transactionId)}::xid8, ${after.position})
    and (transaction_id, position) <= (${String(upTo.transactionId)}::xid8, ${upTo.position})
    ${ofOrganization(sql, organizationId)}
    ${aggregateTypes.length > 0 ? sql`and aggregate_type = any(${aggregateTypes})` : sql``}
    ${aggregateIds.length > 0 ? sql`and aggregate_id = any(${aggregateIds})` : sql``}
    ${eventTypes.length > 0 ? sql`and aggregate_type || '.' || type like any(${eventTypes.map(toLike)})` : sql``}
    ${actors.length > 0 ? sql`and creator = any(${actors})` : sql``}
    ${since ? sql`and created_at >= ${since}` : sql``}
  `
  return readPage(sql, where, limit, mostBytes)
}

// An organization has an index of its own, so that PostgreSQL need not look at the events of others.
function ofOrganization(sql: Sql, organizationId: string) {
  return organizationId ? sql`and organization_id = ${organizationId}` : sql``
}

function toLike(eventType: string): string {
  return plainType(eventType)
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*$/, '%')
}

/** The place of a row. */
export function toPosition({ transaction_id, position }: Place): EventPosition {
  return { transactionId: Number(transaction_id), position: Number(position) }
}
