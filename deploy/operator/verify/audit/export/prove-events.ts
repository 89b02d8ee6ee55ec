import { longestJws } from '#lib/eventstore/audit/chain-rows'
import { readCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedRow, canonicalRow } from '#lib/eventstore/audit/canonical-row'
import { type ChainPlace, rowKey } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { TooLarge } from '../../../reading/too-large.ts'
import { Refusal } from '../../../refusal.ts'
import { rowName } from '../../finding.ts'
import { longestText, mostBytes } from '../read-pages.ts'

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
}

/** Opens a prover. It proves what is signed by now. */
export async function openProver(sql: Sql, service: string): Promise<Prover | undefined> {
  const [last] = await sql<(ChainPlace & { page: number; isOfEpoch: boolean })[]>`
    select k.transaction_id::text as "transactionId", k.position::text, k.page::float8, k.epoch = c.epoch as "isOfEpoch"
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
      for (const { number } of pages) {
        const jws = await nextCheckpoint(sql, number)
        // The page's hash goes on through the headers, up to the one that is signed.
        const { page: signed } = readCheckpoint(jws).checkpoint
        for await (const header of headers(sql, Math.max(number, given.header + 1), signed))
          yield { kind: 'page', service, header }
        given.header = Math.max(given.header, signed)
        // The header may have been given before, for a page before it.
        if (number > given.entries)
          yield { kind: 'entries', service, page: number, entries: (await entriesOf(sql, number)).toString('base64') }
        given.entries = Math.max(given.entries, number)
        if (jws !== given.checkpoint) yield { kind: 'checkpoint', service, jws }
        given.checkpoint = jws
      }
    },
    proofOf(row) {
      const page = pages.find((one) => !isBefore(one, row))
      if (!page)
        throw new Refusal(`No page of the audit chain of ${service} has event ${row.position}: call verify --audit.`)
      return { page: page.number, key: rowKey(page.salt, row.position), row: canonicalRow(row) }
    },
  }
}

async function pagesOf(sql: Sql, rows: AuditedRow[]): Promise<PagePlace[]> {
  const [ids, positions] = [rows.map((row) => row.transaction_id), rows.map((row) => row.position)]
  const pages = await sql<(PagePlace & { bytes: number })[]>`
    select number::float8, left(salt, ${longestText}) as salt, octet_length(salt)::float8 as bytes,
      transaction_id::text as "transactionId", position::text
    from audit_pages where number in (
      select p.number from unnest(${ids}::text[], ${positions}::bigint[]) as e (transaction_id, position),
        lateral (
          select number from audit_pages p
          where (p.transaction_id, p.position) >= (e.transaction_id::xid8, e.position)
          order by p.transaction_id, p.position limit 1
        ) p
    ) order by number limit ${rows.length}
  `
  for (const { number, bytes } of pages) checkBytes(number, 'its salt', bytes, longestText)
  return pages
}

async function nextCheckpoint(sql: Sql, page: number): Promise<string> {
  const [row] = await sql<{ number: number; bytes: number; jws: string }[]>`
    select number::float8, octet_length(jws)::float8 as bytes, left(jws, ${longestJws}) as jws from audit_checkpoints
    where page >= ${page} and epoch = (select epoch from audit_chain limit 1) order by audit_checkpoints.number limit 1
  `
  if (!row) throw new Refusal('A checkpoint is missing: call verify --audit.')
  if (row.bytes > longestJws) throw new TooLarge(rowName('audit_checkpoints', { number: row.number }), row.bytes)
  return row.jws
}

const headersAtOnce = 500

async function* headers(sql: Sql, from: number, signed: number): AsyncGenerator<string> {
  // A larger number is not exact, and would be read for ever.
  const upTo = Math.min(signed, Number.MAX_SAFE_INTEGER)
  for (let next = from; next <= upTo;) {
    const rows = await sql<{ number: number; bytes: number; header: string }[]>`
      select number::float8, octet_length(header)::float8 as bytes, left(header, ${longestText}) as header
      from audit_pages where number >= ${next} and number <= ${upTo}
      order by audit_pages.number limit ${headersAtOnce}
    `
    if (rows.length === 0) return
    for (const { number, bytes, header } of rows) {
      checkBytes(number, 'its header', bytes, longestText)
      yield header
    }
    next = rows.at(-1)!.number + 1
  }
}

async function entriesOf(sql: Sql, number: number): Promise<Buffer> {
  const [row] = await sql<{ bytes: number; entries: Buffer }[]>`
    select octet_length(entries)::float8 as bytes,
      case when octet_length(entries) <= ${mostBytes} then entries end as entries
    from audit_pages where number = ${number} limit 1
  `
  if (!row) throw new Refusal('A page of the audit chain is gone: call verify --audit.')
  checkBytes(number, 'its list of entries', row.bytes, mostBytes)
  return row.entries
}

function checkBytes(number: number, what: string, bytes: number, most: number): void {
  if (bytes > most) throw new TooLarge(`${rowName('audit_pages', { number })}: ${what}`, bytes)
}

function isBefore(page: ChainPlace, row: AuditedRow): boolean {
  const [one, other] = [BigInt(page.transactionId), BigInt(row.transaction_id)]
  return one < other || (one === other && BigInt(page.position) < BigInt(row.position))
}
