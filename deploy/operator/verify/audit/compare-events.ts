import { type ChainPlace, placeOf, readEntries } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { readPage } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import type { StoringService } from '../../../provision.ts'
import type { Finding } from '../finding.ts'
import { compareRows, type ReadPage } from './check-page.ts'
import { readGaps } from './read-pages.ts'

/** Events that are read at once, and bytes of their payloads. */
const [pageSize, pageBytes] = [1000, 4 * 1024 * 1024]

/** Compares the events after a place up to the end of a page with what the page says. */
export async function compareEvents(
  sql: Sql,
  service: StoringService,
  page: ReadPage,
  from: ChainPlace,
): Promise<Finding[]> {
  const found: Finding[] = []
  const missing = readEntries(page.entries)
  const { last } = page.told
  for (let place = from; ;) {
    const where = sql`
      (transaction_id, position) > (${place.transactionId}::xid8, ${place.position}::bigint)
      and (transaction_id, position) <= (${last.transactionId}::xid8, ${last.position}::bigint)
    `
    const rows = await readPage(sql, where, pageSize, pageBytes)
    if (rows.length === 0) break
    const { altered, inserted } = compareRows(page.salt, missing, rows)
    for (const one of altered) say(one.position, `it was altered: ${told(one)}`)
    for (const one of inserted) say(one.position, `it was inserted: ${told(one)}`)
    place = placeOf(rows.at(-1)!)
  }
  if (missing.size === 0) return found
  const gone = await whatIsGone(sql, [...missing.keys()])
  for (const position of missing.keys()) say(position, gone(position))
  return found

  function say(position: string, problem: string): void {
    found.push({ service, row: `events position=${position}`, problem })
  }
}

function told({ aggregate_type, aggregate_id, sequence }: StoredEvent): string {
  return `${aggregate_type} ${aggregate_id}, sequence ${sequence}`
}

// An event may also stand at another place now.
async function whatIsGone(sql: Sql, removed: string[]): Promise<(position: string) => string> {
  const moved = await sql<{ position: string }[]>`
    select position::text from events where position = any(${removed}::bigint[])
  `
  const there = new Set(moved.map(({ position }) => position))
  const gaps = there.size < removed.length ? await readGaps(sql) : []
  const objects = gaps.map(({ type, id, sequence }) => `${type} ${id}, sequence ${sequence}`).join('; ')
  return (position) => {
    if (there.has(position)) return 'it was moved to another place of the order of commits'
    return objects === '' ? 'it was removed' : `it was removed; missing is: ${objects}`
  }
}
