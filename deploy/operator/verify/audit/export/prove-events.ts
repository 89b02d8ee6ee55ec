import { readCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedRow, canonicalRow } from '#lib/eventstore/audit/canonical-row'
import { type ChainPlace, rowKey } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { Refusal } from '../../../refusal.ts'

/** Makes proofs for some events of a service: what must stand before them in an export, and what beside them. */
export interface Prover {
  /** The last event that is signed. */
  end: ChainPlace
  /** Lines that prove these events. A line that was given before is left out. */
  lines(rows: AuditedRow[]): Promise<object[]>
  /** What stands beside an event of these lines. */
  proofOf(row: AuditedRow): { page: number; key: string; row: string }
}

interface PageRow {
  number: number
  salt: string
  entries: Buffer
  transactionId: string
  position: string
}

/** Opens a prover. It proves what is signed by now. */
export async function openProver(sql: Sql, service: string): Promise<Prover | undefined> {
  const [last] = await sql<(ChainPlace & { page: number; isOfEpoch: boolean })[]>`
    select k.transaction_id::text as "transactionId", k.position::text, k.page::float8, k.epoch = c.epoch as "isOfEpoch"
    from audit_checkpoints k, audit_chain c order by number desc limit 1
  `
  const [any] = await sql`select from events limit 1`
  if (!any) return undefined
  if (!last?.isOfEpoch) throw new Refusal(`No event of ${service} is signed yet. Call it again in some minutes.`)
  const given = { headers: new Set<number>(), entries: new Set<number>(), checkpoints: new Set<string>() }
  let pages: PageRow[] = []

  return {
    end: last,
    async lines(rows) {
      pages = await pagesOf(sql, rows)
      const lines: object[] = []
      for (const page of pages) {
        const jws = await nextCheckpoint(sql, page.number)
        // The page's hash goes on through the headers, up to the one that is signed.
        const { page: signed } = readCheckpoint(jws).checkpoint
        for (const { number, header } of await headers(sql, page.number, signed))
          if (isNew(given.headers, number)) lines.push({ kind: 'page', service, header })
        // The header may have been given before, for a page before it.
        if (isNew(given.entries, page.number))
          lines.push({ kind: 'entries', service, page: page.number, entries: page.entries.toString('base64') })
        if (isNew(given.checkpoints, jws)) lines.push({ kind: 'checkpoint', service, jws })
      }
      return lines
    },
    proofOf(row) {
      const page = pages.find((one) => !isBefore(one, row))
      if (!page)
        throw new Refusal(`No page of the audit chain of ${service} has event ${row.position}: call verify --audit.`)
      return { page: page.number, key: rowKey(page.salt, row.position), row: canonicalRow(row) }
    },
  }
}

function isNew<Value>(given: Set<Value>, value: Value): boolean {
  if (given.has(value)) return false
  given.add(value)
  return true
}

function pagesOf(sql: Sql, rows: AuditedRow[]) {
  const [ids, positions] = [rows.map((row) => row.transaction_id), rows.map((row) => row.position)]
  return sql<PageRow[]>`
    select number::float8, salt, entries, transaction_id::text as "transactionId", position::text
    from audit_pages where number in (
      select p.number from unnest(${ids}::text[], ${positions}::bigint[]) as e (transaction_id, position),
        lateral (
          select number from audit_pages p
          where (p.transaction_id, p.position) >= (e.transaction_id::xid8, e.position)
          order by p.transaction_id, p.position limit 1
        ) p
    ) order by number
  `
}

async function nextCheckpoint(sql: Sql, page: number): Promise<string> {
  const [row] = await sql<{ jws: string }[]>`
    select jws from audit_checkpoints
    where page >= ${page} and epoch = (select epoch from audit_chain) order by number limit 1
  `
  return row?.jws ?? Promise.reject(new Refusal('A checkpoint is missing: call verify --audit.'))
}

function headers(sql: Sql, from: number, upTo: number) {
  return sql<{ number: number; header: string }[]>`
    select number::float8, header from audit_pages where number >= ${from} and number <= ${upTo} order by number
  `
}

function isBefore(page: ChainPlace, row: AuditedRow): boolean {
  const [one, other] = [BigInt(page.transactionId), BigInt(row.transaction_id)]
  return one < other || (one === other && BigInt(page.position) < BigInt(row.position))
}
