import { hash } from 'node:crypto'
import { type PageHeader, rowHash, rowKey } from '#lib/eventstore/audit/page'
import type { StoredEvent } from '#lib/events/stored-event'

/** A page as it is stored. */
export interface StoredPage {
  number: number
  header: string
  salt: string
  entries: Buffer
}

/** A page whose header could be read. */
export interface ReadPage extends StoredPage {
  told: PageHeader
  hash: string
}

/** Reads the header. Throws where it is none. */
export function readHeader(page: StoredPage): ReadPage {
  const told = JSON.parse(page.header) as PageHeader
  for (const place of [told.first, told.last])
    for (const number of [place.transactionId, place.position]) BigInt(number)
  return { ...page, told, hash: hash('sha256', page.header) }
}

/**
 * What is wrong with the page itself, given the page before it. `isFirst`: the database has none before it, so the epoch
 * must begin with it. Its header counts the events of the epoch, and so it proves that.
 */
export function pageProblem(
  { told, number, entries }: ReadPage,
  service: string,
  before: ReadPage | undefined,
  isFirst: boolean,
): string | undefined {
  if (told.service !== service || told.page !== number) return 'it stands in the place of another one'
  if (before && told.previous !== before.hash) return 'it does not name the one before it'
  if (number === 1 && told.previous !== '') return 'it names one before it'
  if (number > 1 && told.previous === '') return 'it names none before it'
  if (told.entries !== hash('sha256', entries)) return 'its entries were altered'
  const count = entries.length / 40
  if (before && told.events !== before.told.events + count) return 'its entries were altered'
  if (isFirst && told.events !== count) return 'pages of the epoch are missing before it'
  return undefined
}

/** Compares some rows of a page with its entries. Takes those of the rows out of `missing`. */
export function compareRows(salt: string, missing: Map<string, string>, rows: StoredEvent[]) {
  const found: Record<'altered' | 'inserted', StoredEvent[]> = { altered: [], inserted: [] }
  for (const row of rows) {
    const entry = missing.get(row.position)
    missing.delete(row.position)
    if (entry === undefined) found.inserted.push(row)
    else if (hashOf(salt, row) !== entry) found.altered.push(row)
  }
  return found
}

// Undefined for a row that no text can be made of, such as one with an infinite time.
function hashOf(salt: string, row: StoredEvent): string | undefined {
  try {
    return rowHash(rowKey(salt, row.position), row)
  } catch {
    return undefined
  }
}
