import { isSmallKey } from '#lib/eventstore/audit/chain-rows'
import type { ChainEnd, ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import { eachBlock } from '../each-block.ts'
import { readEvents } from '../../reading/read-events.ts'
import type { ReadEvent } from '../../reading/read-rows.ts'
import type { StoredPage } from './check-page.ts'

const mostPages = 100
/** Bytes of entries: those of 2,000 events. The last page may exceed it. */
export const mostBytes = 2000 * 40
/** Characters of a header, a salt or a reason. */
export const longestText = 4000

/** The row of `audit_chain`. */
export async function readEnd(sql: Sql): Promise<ChainEnd & { reason: string; held: boolean }> {
  const [row] = await sql<[ChainEnd & { reason: string; held: boolean }]>`
    select epoch, left(reason, ${longestText}) as reason, held, page::float8, transaction_id::text as "transactionId",
      position::text, events::float8, left(hash, ${longestText}) as hash
    from audit_chain limit 1
  `
  return row
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

/** Tables with values that are larger than any of Roster's. They are not read, or only in part. */
export async function tooLarge(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select 'audit_chain' as name where exists (
      select from audit_chain where octet_length(reason) > ${longestText} or octet_length(hash) > ${longestText}
    )
    union all select 'audit_keys' where (select count(*) from audit_keys) > (select count(*) from audit_keys where ${isSmallKey(sql)})
  `
  return rows.map(({ name }) => name)
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
      and ${isOverdue(sql)}
    order by e.transaction_id, e.position limit 1
  `
  if (!row) return undefined
  const problem = `events that are older than five minutes are not in it; the first is of ${row.since} UTC`
  return row.waits ? `${problem}; ${await readOpen(sql)}` : problem
}

// Locks tell everybody which process has a transaction. Since when is told to few, so it is left out.
async function readOpen(sql: Sql): Promise<string> {
  const rows = await sql<{ process: number; role: string | null }[]>`
    select l.pid as process, a.usename::text as role from pg_locks l left join pg_stat_activity a using (pid)
    where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
    order by age(l.transactionid) desc limit 1
  `
  const open = 'a transaction is open'
  return rows.map(({ process, role }) => `${open}, of ${role ?? 'nobody'} in process ${process}`)[0] ?? open
}

// An event `e` that the chain should have, in the snapshot `running`.
function isOverdue(sql: Pick<Sql, 'unsafe'>) {
  return sql.unsafe(`(
    e.transaction_id >= pg_snapshot_xmax(running)
    or e.created_at not between now() - interval '5 minutes' and now() + interval '5 minutes'
  )`)
}

/** Whether events after a place, up to the end of the chain, are older than so many seconds, or of a time to come. */
export async function hasOlder(sql: Sql, after: ChainPlace, end: ChainPlace, seconds: number): Promise<boolean> {
  const { count } = await sql`
    select from events
    where (transaction_id, position) > (${after.transactionId}::xid8, ${after.position}::bigint)
      and (transaction_id, position) <= (${end.transactionId}::xid8, ${end.position}::bigint)
      and created_at not between now() - make_interval(secs => ${seconds}) and now() + interval '5 minutes'
    limit 1
  `
  return count > 0
}

/**
 * Counts the events of the table: those up to the end of the chain, those that should be in it, and those that come after
 * the signed place. Calls `alive` after each portion.
 */
export async function countInTable(
  sql: Sql,
  service: StoringService,
  { end, signed }: { end: ChainPlace; signed: ChainPlace },
  alive: () => void,
): Promise<{ chained: number; unchained: number; unsigned: number }> {
  const counted = { chained: 0, unchained: 0, unsigned: 0 }
  const counting = eachBlock(
    sql,
    `roster_${service}`,
    'events',
    (transaction, from, where) => transaction<[typeof counted]>`
      select count(*) filter (
          where (e.transaction_id, e.position) <= (${end.transactionId}::xid8, ${end.position}::bigint)
        )::float8 as chained,
        count(*) filter (
          where (e.transaction_id, e.position) > (select transaction_id, position from audit_chain)
            and ${isOverdue(transaction)}
        )::float8 as unchained,
        count(*) filter (
          where (e.transaction_id, e.position) > (${signed.transactionId}::xid8, ${signed.position}::bigint)
        )::float8 as unsigned
      from (select * from ${from} where ${where}) e, pg_current_snapshot() running
    `,
  )
  for await (const [{ chained, unchained, unsigned }] of counting) {
    alive()
    counted.unsigned += unsigned
    counted.chained += chained
    counted.unchained += unchained
  }
  return counted
}

/** The number of the last checkpoint; 0 before the first one. */
export async function readLastNumber(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }[]>`
    select number::float8 from audit_checkpoints c where number between 1 and ${most} order by c.number desc limit 1
  `
  return row?.number ?? 0
}

/** Columns of a checkpoint's row beside its text. */
export interface CheckpointColumns extends ChainPlace {
  epoch: number
  page: number
  /** Milliseconds, as JavaScript counts them. */
  at: number
}

/** The columns of these checkpoints, by their numbers. */
export async function readColumns(sql: Sql, numbers: number[]): Promise<Map<number, CheckpointColumns>> {
  const rows = await sql<(CheckpointColumns & { number: number })[]>`
    select number::float8, epoch, page::float8, transaction_id::text as "transactionId", position::text,
      (extract(epoch from signed_at) * 1000)::float8 as at
    from audit_checkpoints where number = any(${numbers}::bigint[])
  `
  return new Map(rows.map((row) => [row.number, row]))
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
    select number::float8, left(header, ${longestText}) as header, left(salt, ${longestText}) as salt,
      case when octet_length(entries) <= ${mostBytes} then entries else '' end as entries
    from (
      select *, sum(octet_length(entries)) over (order by number) - octet_length(entries) as before from (
        select number, header, salt, entries from audit_pages where number > ${after} and number <= ${upTo} order by number limit ${mostPages}
      ) next
    ) pages
    where before < ${mostBytes} order by number
  `
}

/** Some events after a place up to another, as they are stored. */
export function readRows(sql: Sql, after: ChainPlace, upTo: ChainPlace): Promise<ReadEvent[]> {
  const where = sql`
    (transaction_id, position) > (${after.transactionId}::xid8, ${after.position}::bigint)
    and (transaction_id, position) <= (${upTo.transactionId}::xid8, ${upTo.position}::bigint)
  `
  return readEvents(sql, where)
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
    select left(a.type, 100) as type, left(a.id, 100) as id, missing.number::text as sequence
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
