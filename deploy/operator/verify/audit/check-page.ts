import { hash } from 'node:crypto'
import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import { type PageHeader, rowHash, rowKey } from '#lib/eventstore/audit/page'
import type { ReadEvent } from '../../reading/read-rows.ts'
import { isPlace } from './is-before.ts'

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
  if (!isPlace(told?.first) || !isPlace(told.last) || !Number.isSafeInteger(told.events))
    throw new Error('it is no page')
  return { ...page, told, hash: hash('sha256', page.header) }
}

/** Of a page without events. No service makes one, and any number of them can be whole. */
export const noEvents = 'it has no events, so the look at the chain ended here'

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
  if (count === 0) return noEvents
  if (before && told.events !== before.told.events + count) return 'its entries were altered'
  if (isFirst && told.events !== count) return 'pages of the epoch are missing before it'
  return undefined
}

/** How rows differ from the entries of their page. */
export interface RowDifferences {
  altered: ReadEvent[]
  inserted: ReadEvent[]
  unreadable: ReadEvent[]
}

/** Compares some rows of a page with its entries. Takes those of the rows out of `missing`. */
export function compareRows(salt: string, missing: Map<string, string>, rows: ReadEvent[]): RowDifferences {
  const found: RowDifferences = { altered: [], inserted: [], unreadable: [] }
  for (const row of rows) {
    const entry = missing.get(row.position)
    missing.delete(row.position)
    if (entry === undefined) found.inserted.push(row)
    else {
      const is = hashOf(salt, row)
      if (is === undefined) found.unreadable.push(row)
      // The hash is one of what JavaScript tells.
      else if (is !== entry || row.loss !== undefined) found.altered.push(row)
    }
  }
  return found
}

// A row that no text can be made of, such as one with an infinite time, or a payload that is nested too deep.
function hashOf(salt: string, row: AuditedRow): string | undefined {
  try {
    return rowHash(rowKey(salt, row.position), row)
  } catch {
    return undefined
  }
}
