import { readCheckpoint } from '#lib/audit-log/checkpoint'
import { type AuditedRow, canonicalRow } from '#lib/audit-log/canonical-row'
import { type ChainPlace, isBefore, rowKey } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { Refusal } from '../refusal.ts'

/** Makes proofs for some events of a service: what must stand before them in an export, and what beside them. */
export interface Prover {
  /** The last event that is signed. */
  end: ChainPlace
  /**
   * Lines that prove these events, which come after those that it was called with before. A line that was given before is
   * left out.
   */
  lines(rows: AuditedRow[]): AsyncIterable<object>
  /** What stands beside an event of these lines. */
  proofOf(row: AuditedRow): { page: number; key: string; row: string }
}

interface PagePlace extends ChainPlace {
  number: number
  salt: string
  entries: Buffer
}

/** Opens a prover. It proves what is signed by now. */
export async function openProver(sql: Sql, service: string): Promise<Prover | undefined> {
  const [last] = await sql<(ChainPlace & { isOfEpoch: boolean })[]>`
    select k.transaction_id::text as "transactionId", k.position::text, k.epoch = c.epoch as "isOfEpoch"
    from audit_checkpoints k, audit_chain c order by k.number desc limit 1
  `
  const [any] = await sql`select from events limit 1`
  if (!any) return undefined
  if (!last?.isOfEpoch) throw new Refusal(`No event of ${service} is signed yet. Call it again in some minutes.`)
  // Places only rise. So it is enough to know how far each kind of line was given.
  const given = { header: 0, entries: 0, checkpoint: '' }
  let pages: PagePlace[] = []

  return {
    end: last,
    async *lines(rows) {
      pages = await pagesOf(sql, rows)
      for (const { number, entries } of pages) {
        const jws = await nextCheckpoint(sql, number)
        // The page's hash goes on through the headers, up to the one that is signed.
        const { page: signed } = readCheckpoint(jws).checkpoint
        const headers = await sql<{ header: string }[]>`
          select header from audit_pages where number between ${Math.max(number, given.header + 1)} and ${signed}
          order by number
        `
        for (const { header } of headers) yield { kind: 'page', service, header }
        given.header = Math.max(given.header, signed)
        // The header may have been given before, for a page before it.
        if (number > given.entries)
          yield { kind: 'entries', service, page: number, entries: entries.toString('base64') }
        given.entries = Math.max(given.entries, number)
        if (jws !== given.checkpoint) yield { kind: 'checkpoint', service, jws }
        given.checkpoint = jws
      }
    },
    proofOf(row) {
      const page = pages.find((one) => !isBefore(one, { transactionId: row.transaction_id, position: row.position }))
      if (!page)
        throw new Refusal(`No page of the audit chain of ${service} has event ${row.position}: call verify --audit.`)
      return { page: page.number, key: rowKey(page.salt, row.position), row: canonicalRow(row) }
    },
  }
}

function pagesOf(sql: Sql, rows: AuditedRow[]): Promise<PagePlace[]> {
  const [ids, positions] = [rows.map((row) => row.transaction_id), rows.map((row) => row.position)]
  return sql<PagePlace[]>`
    select number::float8, salt, transaction_id::text as "transactionId", position::text, entries
    from audit_pages p where number in (
      select p.number from unnest(${ids}::text[], ${positions}::bigint[]) as e (transaction_id, position),
        lateral (
          select number from audit_pages p
          where (p.transaction_id, p.position) >= (e.transaction_id::xid8, e.position)
          order by p.transaction_id, p.position limit 1
        ) p
    ) order by p.number
  `
}

async function nextCheckpoint(sql: Sql, page: number): Promise<string> {
  const [row] = await sql<{ jws: string }[]>`
    select jws from audit_checkpoints
    where page >= ${page} and epoch = (select epoch from audit_chain) order by number limit 1
  `
  if (!row) throw new Refusal('A checkpoint is missing: call verify --audit.')
  return row.jws
}
