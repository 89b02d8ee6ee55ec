import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import { plainType } from '../events/event-type.ts'
import type { StoredEvent } from '../events/publish.ts'
import type { Sql } from './database.ts'

/** What says where a row is, as it is selected. */
export interface Place {
  transaction_id: string
  position: string
}

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
  if (!since) return { transactionId: 0, position: 0 }
  const time = new Date(since.getTime() - 60_000)
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
  return found?.older ? toPosition(found) : { transactionId: 0, position: 0 }
}

/**
 * Up to where everything is settled: below the oldest running transaction, where nothing can be added any more. `bound` is the
 * last row that may be looked at, of one organization where the filter names it, where there are that many.
 */
export async function look(sql: Sql, after: EventPosition, { organizationId }: EventFilter, window: number) {
  const [found] = await sql<(Partial<Place> & { xmin: string })[]>`
    select settled::text as xmin, transaction_id::text, position
    from (select pg_snapshot_xmin(pg_current_snapshot()) as settled) running
    left join lateral (
      select transaction_id, position from events
      where (transaction_id, position) > (${String(after.transactionId)}::xid8, ${after.position}) and transaction_id < settled
        ${ofOrganization(sql, organizationId)}
      order by events.transaction_id, events.position
      offset ${window - 1} limit 1
    ) last on true
  `
  const { xmin, transaction_id, position } = found!
  return {
    settled: { transactionId: Number(xmin), position: 0 },
    bound: transaction_id && position ? toPosition({ transaction_id, position }) : undefined,
  }
}

/** The events that pass the filter, in the order of their commit, after a place and up to another one. */
export function read(sql: Sql, after: EventPosition, upTo: EventPosition, filter: EventFilter, limit: number) {
  const { organizationId, aggregateTypes, aggregateIds, eventTypes, actors, since } = filter
  return sql<StoredEvent[]>`
    select ${eventColumns(sql)}
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
