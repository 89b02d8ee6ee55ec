import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoredPage } from './check-page.ts'

const mostPages = 100

/** The row of `audit_chain`. */
export async function readEnd(sql: Sql): Promise<ChainEnd & { reason: string; held: boolean }> {
  const [row] = await sql<(ChainEnd & { reason: string; held: boolean })[]>`
    select epoch, reason, held, page::float8, transaction_id::text as "transactionId", position::text, events::float8, hash
    from audit_chain
  `
  if (!row) throw new Error('the row of audit_chain is missing')
  return row
}

/**
 * Tells why the chain does not go on: it lacks events that are older than some minutes, or of transactions that did not
 * begin yet. It waits for open transactions, and whoever leaves one open stops it.
 */
export async function readUnchained(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ since: string; waits: boolean }[]>`
    select date_trunc('second', e.created_at at time zone 'utc')::text as since,
      e.transaction_id >= pg_snapshot_xmin(running) and e.transaction_id < pg_snapshot_xmax(running) as waits
    from events e, pg_current_snapshot() running
    where (e.transaction_id, e.position) > (select transaction_id, position from audit_chain)
      and (e.transaction_id >= pg_snapshot_xmax(running)
        or e.created_at not between roster_now() - interval '5 minutes' and roster_now() + interval '5 minutes')
    order by e.transaction_id, e.position limit 1
  `
  if (!row) return undefined
  const problem = `events that are older than five minutes are not in it; the first is of ${row.since} UTC`
  return row.waits ? `${problem}; ${await readOpen(sql)}` : problem
}

// Locks tell everybody which process has a transaction. Since when is told to few, so it is left out.
async function readOpen(sql: Sql): Promise<string> {
  const [row] = await sql<{ process: number; role: string | null }[]>`
    select l.pid as process, a.usename::text as role from pg_locks l left join pg_stat_activity a using (pid)
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
    order by age(l.transactionid) desc limit 1
  `
  return row ? `a transaction is open, of ${row.role ?? 'nobody'} in process ${row.process}` : 'a transaction is open'
}

/** Whether events after a place, up to the end of the chain, are older than so many seconds, or of a time to come. */
export async function hasOlder(sql: Sql, after: ChainPlace, end: ChainPlace, seconds: number): Promise<boolean> {
  const { count } = await sql`
    select from events
    where (transaction_id, position) > (${after.transactionId}::xid8, ${after.position}::bigint)
      and (transaction_id, position) <= (${end.transactionId}::xid8, ${end.position}::bigint)
      and created_at not between roster_now() - make_interval(secs => ${seconds}) and roster_now() + interval '5 minutes'
    limit 1
  `
  return count > 0
}

/** The number of events after a place. */
export async function countAfter(sql: Sql, { transactionId, position }: ChainPlace): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::float8 as count from events
    where (transaction_id, position) > (${transactionId}::xid8, ${position}::bigint)
  `
  return count
}

/** The number of the last checkpoint; 0 before the first one. */
export async function readLastNumber(sql: Sql): Promise<number> {
  const [{ number }] = await sql<[{ number: number }]>`
    select coalesce(max(number), 0)::float8 as number from audit_checkpoints
  `
  return number
}

/** The number of the first page. */
export async function readFirstNumber(sql: Sql): Promise<number> {
  const [{ number }] = await sql<[{ number: number }]>`
    select coalesce(min(number), 1)::float8 as number from audit_pages
  `
  return number
}

/** Some pages after a number, up to another. */
export function readPages(sql: Sql, after: number, upTo: number) {
  return sql<StoredPage[]>`
    select number::float8, header, salt, entries from audit_pages p
    where number > ${after} and number <= ${upTo} order by p.number limit ${mostPages}
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
