import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/feed-rows'
import type { StoredPage } from './check-page.ts'

const mostPages = 100
const mostRows = 1000
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

/** Tables that may show other rows than they have: by row level security, rules or children, or because they are views. */
export async function strangeTables(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from unnest(array['events', 'audit_chain', 'audit_pages', 'audit_checkpoints', 'audit_keys']) name
    left join pg_class c on c.oid = to_regclass(name)
    where c.relkind is distinct from 'r' or c.relrowsecurity or exists (select from pg_rewrite where ev_class = c.oid)
      or exists (select from pg_inherits where inhparent = c.oid)
  `
  return rows.map(({ name }) => name)
}

/** Larger numbers are not exact. */
const most = Number.MAX_SAFE_INTEGER

/** Tables with numbers that no chain has. Nothing can be counted with them. */
export async function strangeNumbers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select 'audit_chain' as name where exists (
      select from audit_chain where epoch < 1 or page not between 0 and ${most} or events not between 0 and ${most}
    )
    union all select 'audit_pages' where exists (select from audit_pages where number not between 1 and ${most})
    union all
    select 'audit_checkpoints' where exists (select from audit_checkpoints where number not between 1 and ${most})
  `
  return rows.map(({ name }) => name)
}

/**
 * Whether the chain does not go on: it lacks settled events that are older than some minutes, or events of transactions
 * that did not begin yet.
 */
export async function hasUnchained(sql: Sql): Promise<boolean> {
  const { count } = await sql`
    select from events e, pg_current_snapshot() running
    where (e.transaction_id, e.position) > (select transaction_id, position from audit_chain)
      and (
        e.transaction_id >= pg_snapshot_xmax(running)
        or e.transaction_id < pg_snapshot_xmin(running)
          and e.created_at not between now() - interval '5 minutes' and now() + interval '5 minutes'
      )
    limit 1
  `
  return count > 0
}

/** The number of the first page. */
export async function readFirstNumber(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }[]>`
    select number::float8 from audit_pages p where number between 1 and ${most} order by p.number limit 1
  `
  return row?.number ?? 1
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

/** Some events after a place up to another, as they are stored. */
export function readRows(sql: Sql, after: ChainPlace, upTo: ChainPlace) {
  return sql<AuditedRow[]>`
    select ${eventColumns(sql)} from events
    where (transaction_id, position) > (${after.transactionId}::xid8, ${after.position}::bigint)
      and (transaction_id, position) <= (${upTo.transactionId}::xid8, ${upTo.position}::bigint)
    order by events.transaction_id, events.position
    limit ${mostRows}
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
      -- Whatever an object says: so many numbers have those that are missing first.
      select a.type, a.id, least(a.sequence, there.count + ${mostGaps}) as sequence
      from aggregates a, lateral (
        select count(*) from events e where e.aggregate_type = a.type and e.aggregate_id = a.id
      ) there
      where a.sequence <> there.count
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
