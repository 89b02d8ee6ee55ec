import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/feed-rows'
import type { StoredPage } from './check-page.ts'

const mostPages = 100
/** Bytes of entries: those of 2,000 events. The last page may exceed it. */
const mostBytes = 2000 * 40

/** The row of `audit_chain`. */
export async function readEnd(sql: Sql): Promise<ChainEnd & { reason: string; held: boolean }> {
  const [row] = await sql<[ChainEnd & { reason: string; held: boolean }]>`
    select epoch, reason, held, page::float8, transaction_id::text as "transactionId", position::text, events::float8, hash
    from audit_chain
  `
  return row
}

/** Some pages after a number, up to another. */
export function readPages(sql: Sql, after: number, upTo: number) {
  return sql<StoredPage[]>`
    select number::float8, header, salt, entries from (
      select *, sum(octet_length(entries)) over (order by number) - octet_length(entries) as before from (
        select * from audit_pages where number > ${after} and number <= ${upTo} order by number limit ${mostPages}
      ) next
    ) pages
    where before < ${mostBytes} order by number
  `
}

/** The events after a place up to another, as they are stored. */
export function readRows(sql: Sql, after: ChainPlace, upTo: ChainPlace) {
  return sql<AuditedRow[]>`
    select ${eventColumns(sql)} from events
    where (transaction_id, position) > (${after.transactionId}::xid8, ${after.position}::bigint)
      and (transaction_id, position) <= (${upTo.transactionId}::xid8, ${upTo.position}::bigint)
    order by events.transaction_id, events.position
  `
}

/** An object of which events are missing. */
export interface Gap {
  type: string
  id: string
  sequence: string
}

const mostGaps = 20

/** Events that are missing, by what their objects count. It reads the whole log, so it is asked only after a finding. */
export function readGaps(sql: Sql) {
  return sql<Gap[]>`
    select a.type, a.id, missing.number::text as sequence
    from (
      select a.type, a.id, a.sequence from aggregates a
      where a.sequence <> (
        select count(*) from events e where e.aggregate_type = a.type and e.aggregate_id = a.id
      )
      limit ${mostGaps}
    ) a, lateral (
      select number from generate_series(1, a.sequence) number
      where not exists (
        select from events e where e.aggregate_type = a.type and e.aggregate_id = a.id and e.sequence = number
      )
      limit ${mostGaps}
    ) missing
  `
}
