import { hash } from 'node:crypto'
import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import { type PageHeader, readEntries, rowHash, rowKey } from '#lib/eventstore/audit/page'

/** A page as it is stored. */
export interface StoredPage {
  number: number
  header: string
  salt: string
  entries: Buffer
}

/** A page whose header could be read. */
export interface ReadPage extends StoredPage {
  header: string
  told: PageHeader
  hash: string
}

/** Reads the header. Throws where it is none. */
export function readHeader(page: StoredPage): ReadPage {
  const told = JSON.parse(page.header) as PageHeader
  if (![told.first, told.last].every((place) => place?.position && place.transactionId))
    throw new Error('it is no page')
  return { ...page, told, hash: hash('sha256', page.header) }
}

/** What is wrong with the page itself, given the page before it. */
export function pageProblem(page: ReadPage, service: string, before: ReadPage | undefined): string | undefined {
  const { told, entries } = page
  const isInPlace = told.service === service && told.page === page.number
  if (!isInPlace) return 'it stands in the place of another one'
  if (before && told.previous !== before.hash) return 'it does not name the one before it'
  if (page.number === 1 && told.previous !== '') return 'it names one before it'
  const count = (before?.told.events ?? 0) + entries.length / 40
  if (told.entries !== hash('sha256', entries) || (before && told.events !== count)) return 'its entries were altered'
  return undefined
}

/** How rows differ from the entries of their page. */
export interface RowDifferences {
  altered: AuditedRow[]
  inserted: AuditedRow[]
  /** Positions of events that are not there. */
  removed: string[]
}

/** Compares all rows of a page with its entries. */
export function compareRows(
  { salt, entries }: Pick<StoredPage, 'salt' | 'entries'>,
  rows: AuditedRow[],
): RowDifferences {
  const missing = readEntries(entries)
  const found: RowDifferences = { altered: [], inserted: [], removed: [] }
  for (const row of rows) {
    const entry = missing.get(row.position)
    missing.delete(row.position)
    if (entry === undefined) found.inserted.push(row)
    else if (entry !== rowHash(rowKey(salt, row.position), row)) found.altered.push(row)
  }
  found.removed.push(...missing.keys())
  return found
}
