import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import { plainType } from '../events/event-type.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import type { Sql } from './database.ts'

/** What says where a row is, as it is selected. */
export interface Place {
  transaction_id: string
  position: string
}

const beginning: EventPosition = { transactionId: 0, position: 0 }

/** The columns of a stored event. */
export function eventColumns(sql: Pick<Sql, 'unsafe'>) {
  return sql.unsafe(
    `position, transaction_id::text, aggregate_type, aggregate_id, sequence, type, payload,
      organization_id, creator, request_id, cause, created_at`,
  )
}

/**
 * Where to begin for events from this time on; without a time, at the beginning. Events are created, and given their positions,
 * nearly in the order of their commit: a search by halves finds one that is older, by a minute more for the clocks of replicas
 * and for transactions that were slow.
 */
export async function findStart(sql: Sql, since: Date | undefined): Promise<EventPosition> {
  if (!since) return beginning
  // Nothing is older than the computers' first day, and PostgreSQL does not read every time before the year 1.
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
 * The last row of those that may be looked at: after a place, settled, which is below the oldest running transaction, where nothing
 * can be added any more, and of one organization where the filter names it. `endReached`: behind it is none. Without a row, the
 * place itself. Never a place that no row has: a crash takes back the ids of transactions that left nothing behind.
 */
export async function look(sql: Sql, after: EventPosition, { organizationId }: EventFilter, window: number) {
  const [found] = await sql<(Partial<Place> & { settled: string; number: string | null })[]>`
    select settled::text, transaction_id::text, position, number
    from (select pg_snapshot_xmin(pg_current_snapshot()) as settled) running
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
  // A place ahead of everything is one of a PostgreSQL that was set back since.
  return {
    last: after.transactionId < Number(settled) ? after : { transactionId: Number(settled), position: 0 },
    endReached: true,
  }
}

/** The last row that is settled. */
export async function findEnd(sql: Sql, { organizationId }: EventFilter): Promise<EventPosition> {
  const [found] = await sql<Place[]>`
    select transaction_id::text, position from events
    where transaction_id < pg_snapshot_xmin(pg_current_snapshot()) ${ofOrganization(sql, organizationId)}
    order by events.transaction_id desc, events.position desc limit 1
  `
  return found ? toPosition(found) : beginning
}

/** Bytes of payloads that are read at a time, give or take the last one. */
const mostBytes = 1024 * 1024

/**
 * The events that pass the filter, in the order of their commit, after a place and up to another one. `found` counts those, too, that
 * were too much to be read at a time.
 */
export function read(sql: Sql, after: EventPosition, upTo: EventPosition, filter: EventFilter, limit: number) {
  const { organizationId, aggregateTypes, aggregateIds, eventTypes, actors, since } = filter
  return sql<(StoredEvent & { found: number })[]>`
    select ${eventColumns(sql)}, found
    from (
      select *, count(*) over ()::int as found,
        sum(octet_length(payload::text)) over (order by passing.transaction_id, passing.position) - octet_length(payload::text) as before
      from (
        select *
        from events
        where (transaction_id, position) > (${String(after.transactionId)}::xid8, ${after.position})
          and (transaction_id, position) <= (${String(upTo.transactionId)}::xid8, ${upTo.position})
          ${ofOrganization(sql, organizationId)}
          ${aggregateTypes.length > 0 ? sql`and aggregate_type = any(${aggregateTypes})` : sql``}
          ${aggregateIds.length > 0 ? sql`and aggregate_id = any(${aggregateIds})` : sql``}
          ${eventTypes.length > 0 ? sql`and aggregate_type || '.' || type like any(${eventTypes.map(toLike)})` : sql``}
          ${actors.length > 0 ? sql`and creator = any(${actors})` : sql``}
          ${since ? sql`and created_at >= ${since}` : sql``}
        order by events.transaction_id, events.position
        limit ${limit}
      ) passing
    ) events
    where before < ${mostBytes}
    order by events.transaction_id, events.position
  `
}

// It has an index of its own, so that what others did need not be looked at.
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
