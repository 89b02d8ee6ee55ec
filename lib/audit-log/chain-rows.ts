import type { ListCheckpointsRequest, ListCheckpointsResponse } from '#gen/roster/audit/v1/audit'
import type { RecentEvents } from '../events/recent-events.ts'
import { orUnavailable, type Sql, type Transaction } from '../database/database.ts'
import { readPage } from '../eventstore/event-page.ts'
import type { AuditedRow } from './canonical-row.ts'
import type { AuditKey } from './checkpoint.ts'
import type { ChainEnd, Page } from './page.ts'

/** Events of a page. */
const pageSize = 1000
/** Bytes of payloads that are read at a time. The last event may exceed it. */
const mostBytes = 4 * 1024 * 1024

/** The row of `audit_chain`, and the last checkpoint. */
export interface ChainRow extends ChainEnd {
  reason: string
  held: boolean
  hasMore: boolean
  /** Whether a checkpoint waits for the stream. */
  unpublished: boolean
  signedPage: number | null
  signedAt: Date | null
  now: Date
}

/** How far the chain goes, and whether there is something to do. */
export async function readChain(sql: Sql): Promise<ChainRow> {
  const [row] = await sql<ChainRow[]>`
    select epoch, reason, held, c.page::float8 as page, transaction_id::text as "transactionId", position::text, events::float8,
      hash,
      exists (
        select from events e where (e.transaction_id, e.position) > (select transaction_id, position from audit_chain)
      ) as "hasMore",
      exists (select from audit_checkpoints where not published) as unpublished,
      signed.page::float8 as "signedPage", signed.signed_at as "signedAt", roster_now() as now
    from audit_chain c
    left join lateral (select page, signed_at from audit_checkpoints order by number desc limit 1) signed on true
  `
  if (!row) throw new Error('the row of audit_chain is missing')
  return row
}

/** Events of a page, and whether there were no more. */
export interface NextRows {
  rows: AuditedRow[]
  endReached: boolean
}

/** The next settled events: no event can appear before them any more. */
export async function nextRows(sql: Sql, end: ChainEnd, recent: RecentEvents | undefined): Promise<NextRows> {
  const known = recent?.after({ transactionId: Number(end.transactionId), position: Number(end.position) })
  if (known) return { rows: known.slice(0, pageSize), endReached: known.length <= pageSize }
  const where = sql`
    (transaction_id, position) > (${end.transactionId}::xid8, ${end.position}::bigint)
    and transaction_id < settled_below()
  `
  const rows = await readPage(sql, where, pageSize, mostBytes)
  return { rows, endReached: rows.length === (rows[0]?.found ?? 0) && rows.length < pageSize }
}

/**
 * Adds a page, and returns true. Returns false if another replica was faster, if somebody holds the chain, or if
 * PostgreSQL was set back and has the last event no more.
 */
export async function addPage(sql: Sql, end: ChainEnd, page: Page, salt: string): Promise<boolean> {
  const { header, headerText, hash, entries } = page
  const { transactionId, position } = header.last
  const { count } = await sql`
    with moved as (
      update audit_chain set page = ${header.page}, transaction_id = ${transactionId}::xid8, position = ${position}::bigint,
        events = ${header.events}, hash = ${hash}
      where epoch = ${end.epoch} and page = ${end.page} and hash = ${end.hash} and not held
        and transaction_id = ${end.transactionId}::xid8 and position = ${end.position}
        and exists (
          select from events e where e.position = ${position}::bigint and e.transaction_id = ${transactionId}::xid8
        )
      returning page
    )
    insert into audit_pages (number, header, salt, entries, transaction_id, position)
    select page, ${headerText}, ${salt}, ${entries}::bytea, ${transactionId}::xid8, ${position}::bigint from moved
  `
  return count > 0
}

/** A checkpoint of the table. */
export interface CheckpointRow {
  number: number
  jws: string
}

/** The last checkpoint; undefined before the first one. */
export async function lastCheckpoint(sql: Sql | Transaction): Promise<CheckpointRow | undefined> {
  const [row] = await sql<CheckpointRow[]>`
    select number::float8, jws from audit_checkpoints c order by c.number desc limit 1
  `
  return row
}

/** Checkpoints after a number, in order. */
export function checkpointsAfter(sql: Sql, number: number, limit: number) {
  return sql<CheckpointRow[]>`
    select number::float8, jws from audit_checkpoints where number > ${number}
    order by audit_checkpoints.number limit ${limit}
  `
}

/** Every key that ever signed, the oldest first. */
export async function readAuditKeys(sql: Sql | Transaction): Promise<AuditKey[]> {
  const rows = await sql<{ key: AuditKey }[]>`select public_key as key from audit_keys order by created_at, kid`
  return rows.map(({ key }) => key)
}

/** Lists the checkpoints of the service that has this database. UNAVAILABLE STORE_UNAVAILABLE. */
export type ListCheckpoints = (context: unknown, request: ListCheckpointsRequest) => Promise<ListCheckpointsResponse>

const most = 1000

export function createCheckpointList(sql: Sql): ListCheckpoints {
  return async (_context, { after, limit }) => {
    const [checkpoints, keys] = await orUnavailable(
      Promise.all([checkpointsAfter(sql, after, Math.min(Math.max(limit, 0), most)), readAuditKeys(sql)]),
    )
    // Whoever asks knows whom they asked.
    return { checkpoints, keys: keys.map((key) => ({ ...key, service: '' })) }
  }
}
