import { type ChainPlace, placeOf, readEntries } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../../provision.ts'
import { type Finding, rowName } from '../finding.ts'
import { compareRows, type ReadPage } from './check-page.ts'
import { isPlace } from './is-before.ts'
import { isOfService } from '../is-of-service.ts'
import type { ReadEvent } from '../../reading/read-rows.ts'
import { readGaps, readRows } from './read-pages.ts'

/** Findings of a page. Whoever inserted more events has made his point. */
const mostFindings = 2000

/** Compares the events after a place up to the end of a page with what the page says. `read`: so many were there. */
export async function compareEvents(
  sql: Sql,
  service: StoringService,
  page: ReadPage,
  from: ChainPlace,
): Promise<{ found: Finding[]; read: number }> {
  const found: Finding[] = []
  let read = 0
  const row = rowName('audit_pages', { number: page.number })
  const missing = readEntries(page.entries)
  try {
    for (let place = from; ;) {
      const rows = await readRows(sql, place, page.told.last)
      if (rows.length === 0) break
      read += rows.length
      const { altered, inserted, unreadable } = compareRows(page.salt, missing, rows)
      for (const one of altered)
        say(one.position, `it was altered: ${told(one)}${one.loss === undefined ? '' : `; ${one.loss}`}`)
      for (const one of inserted) say(one.position, `it was inserted: ${told(one)}`)
      for (const one of unreadable) say(one.position, `it cannot be read, so it was altered: ${told(one)}`)
      place = placeOf(rows.at(-1)!)
      if (found.length > mostFindings) {
        found.push({ service, row, problem: 'it has more events that differ' })
        return { found, read: Number.NaN }
      }
    }
    if (missing.size === 0) return { found, read }
    const gone = await whatIsGone(sql, [...missing.keys()])
    for (const position of missing.keys()) say(position, gone(position))
  } catch (error) {
    if (!isOfService(error)) throw error
    found.push({ service, row, problem: 'its events cannot be read' })
    read = Number.NaN
  }
  return { found, read }

  // As text: a number may be larger than an exact one.
  function say(position: string, problem: string): void {
    found.push({ service, row: `events position=${position}`, problem })
  }
}

/** The place before which nothing of a page is. */
export function justBefore({ transactionId, position }: ChainPlace): ChainPlace {
  const before = BigInt(position) - 1n
  return { transactionId, position: String(before) }
}

function told({ aggregate_type, aggregate_id, sequence }: ReadEvent): string {
  return `${aggregate_type.slice(0, 200)} ${aggregate_id.slice(0, 200)}, sequence ${sequence}`
}

// An event may also stand at another place now.
async function whatIsGone(sql: Sql, removed: string[]): Promise<(position: string) => string> {
  const possible = removed.filter((position) => isPlace({ transactionId: '0', position }))
  const moved = await sql<{ position: string }[]>`
    select position::text from events where position = any(${possible}::bigint[])
  `
  const there = new Set(moved.map(({ position }) => position))
  const gaps = there.size < removed.length ? await readGaps(sql) : []
  const objects = gaps.map(({ type, id, sequence }) => `${type} ${id}, sequence ${sequence}`).join('; ')
  return (position) => {
    if (there.has(position)) return 'it was moved to another place of the order of commits'
    return objects === '' ? 'it was removed' : `it was removed; missing is: ${objects}`
  }
}
