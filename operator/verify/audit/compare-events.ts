import { type ChainPlace, type PageHeader, placeOf, readEntries, rowHash, rowKey } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { readPage } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import type { StoringService } from '../../../deploy/provision.ts'
import type { Finding } from '../finding.ts'

/** A page as it is stored, what its header says, and its hash. */
export interface StoredPage {
  number: number
  header: string
  salt: string
  entries: Buffer
  parsed: PageHeader
  hash: string
}

/** Events that are read at once, and bytes of their payloads. */
const [pageSize, pageBytes] = [1000, 4 * 1024 * 1024]

/** Compares the events behind the page before, up to the end of this page, with what this page says. */
export async function compareEvents(
  sql: Sql,
  service: StoringService,
  { number, salt, entries, parsed }: StoredPage,
  before: StoredPage | undefined,
): Promise<Finding[]> {
  const found: Finding[] = []
  const say = (position: string, problem: string) =>
    void found.push({ service, row: `events position=${position}`, problem })
  const missing = readEntries(entries)
  // Events between two pages would be in none. Where a page is missing, its events are not known.
  const isGap = before && before.number !== number - 1
  let place: ChainPlace = isGap
    ? justBefore(parsed.first)
    : (before?.parsed.last ?? { transactionId: '0', position: '0' })
  for (;;) {
    const where = sql`
      (transaction_id, position) > (${place.transactionId}::xid8, ${place.position}::bigint)
      and (transaction_id, position) <= (${parsed.last.transactionId}::xid8, ${parsed.last.position}::bigint)
    `
    const rows = await readPage(sql, where, pageSize, pageBytes)
    if (rows.length === 0) break
    for (const row of rows) {
      const object = `${row.aggregate_type} ${row.aggregate_id}, sequence ${row.sequence}`
      const entry = missing.get(row.position)
      if (entry === undefined) say(row.position, `it was inserted: ${object}`)
      else if (hashOf(salt, row) !== entry) say(row.position, `it was altered: ${object}`)
      missing.delete(row.position)
    }
    place = placeOf(rows.at(-1)!)
  }
  const gaps = missing.size > 0 ? await readGaps(sql) : ''
  for (const position of missing.keys())
    say(position, gaps === '' ? 'it was removed' : `it was removed; missing is: ${gaps}`)
  return found
}

function justBefore({ transactionId, position }: ChainPlace): ChainPlace {
  return { transactionId, position: String(BigInt(position) - 1n) }
}

// Undefined for a row that no text can be made of, such as one with an infinite time.
function hashOf(salt: string, row: StoredEvent): string | undefined {
  try {
    return rowHash(rowKey(salt, row.position), row)
  } catch {
    return undefined
  }
}

const mostGaps = 20

// An event that was removed says nothing any more. But objects count their events. It reads the whole log, so it is
// asked only after a finding.
async function readGaps(sql: Sql): Promise<string> {
  const gaps = await sql<{ gap: string }[]>`
    select format('%s %s, sequence %s', a.type, a.id, missing.number) as gap
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
  return gaps.map(({ gap }) => gap).join('; ')
}
