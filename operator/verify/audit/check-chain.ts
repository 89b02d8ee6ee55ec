import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ChainEnd, PageHeader } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import type { StoringService } from '../../../deploy/provision.ts'
import { type Finding, missingBefore, rowName } from '../finding.ts'
import { compareEvents, type StoredPage } from './compare-events.ts'
import { type Witness, witnessName } from './read-witnesses.ts'

const pagesAtOnce = 100

/**
 * Walks the chain of a service, up to `end`. Compares each page with the events, and with the checkpoints of this epoch
 * by their pages. Yields after some pages what it found, and how many events it has looked at.
 */
export async function* checkChain(
  sql: Sql,
  service: StoringService,
  end: ChainEnd,
  witnesses: Map<number, Witness[]>,
): AsyncGenerator<{ found: Finding[]; events: number }> {
  let before: StoredPage | undefined
  let agreed = '0'
  for (;;) {
    const pages = await readPages(sql, before?.number ?? 0, end.page)
    if (pages.length === 0) break
    const found: Finding[] = []
    for (const page of pages) {
      const { number, parsed } = page
      const row = rowName('audit_pages', { number })
      for (const problem of pageProblems(page, before, service, end.epoch)) found.push({ service, row, problem })
      for (const witness of witnesses.get(number) ?? []) {
        if (witness.hash !== page.hash) found.push(contradiction(service, witness, agreed, parsed.last.position))
        else if (witness.isKept) agreed = parsed.last.position
      }
      witnesses.delete(number)
      found.push(...(await compareEvents(sql, service, page, before)))
      before = page
    }
    yield { found, events: before!.parsed.events }
  }
  const found = [...witnesses].flatMap(([page, some]) =>
    some.map((one) => ({ service, row: witnessName(one), problem: `page ${page}, which it signed, is missing` })),
  )
  if (!isLast(before, end))
    found.push({ service, row: 'audit_chain', problem: 'it does not say what the last page says' })
  yield { found, events: end.events }
}

async function readPages(sql: Sql, after: number, upTo: number): Promise<StoredPage[]> {
  const rows = await sql<Omit<StoredPage, 'parsed' | 'hash'>[]>`
    select number::float8, header, salt, entries from audit_pages p
    where number > ${after} and number <= ${upTo} order by p.number limit ${pagesAtOnce}
  `
  return rows.map((row) => ({ ...row, parsed: JSON.parse(row.header) as PageHeader, hash: hash('sha256', row.header) }))
}

// Each header counts the events of its epoch, so it proves where the epoch begins.
function pageProblems(
  { number, parsed, entries }: StoredPage,
  before: StoredPage | undefined,
  service: string,
  epoch: number,
): string[] {
  const found: string[] = []
  const follows = before?.number === number - 1
  const count = parsed.events - entries.length / 40
  if (before && !follows) found.push(missingBefore(before.number + 1, number))
  if (parsed.service !== service || parsed.page !== number) found.push('it stands in the place of another one')
  if (follows && parsed.previous !== before.hash) found.push('it does not name the one before it')
  if (parsed.entries !== hash('sha256', entries) || (follows && count !== before.parsed.events))
    found.push('its entries were altered')
  if (!before && count !== 0) found.push('pages of the epoch are missing before it')
  if (parsed.epoch !== epoch) found.push('it is of another epoch')
  return found
}

function contradiction(service: StoringService, witness: Witness, agreed: string, last: string): Finding {
  const which = witness.isKept ? `after position ${agreed} up to ${last}` : `up to position ${last}`
  return { service, row: witnessName(witness), problem: `the events ${which} are not those that it signed` }
}

// Where a chain has just begun anew, it has no page, and its end names the last one of before.
function isLast(last: StoredPage | undefined, { page, hash: own, events, transactionId, position }: ChainEnd): boolean {
  const end = { page, hash: own, events, last: { transactionId, position } }
  if (!last) return isDeepStrictEqual(end, { ...end, events: 0, last: { transactionId: '0', position: '0' } })
  return isDeepStrictEqual(end, {
    page: last.number,
    hash: last.hash,
    events: last.parsed.events,
    last: last.parsed.last,
  })
}
