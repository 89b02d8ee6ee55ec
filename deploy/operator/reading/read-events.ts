import type { Fragment, Sql } from '#lib/eventstore/database'
import { fitting, mostRows, rowBytes } from './page-limits.ts'
import { type EventText, type ReadEvent, readEvent, wholeColumns } from './read-rows.ts'

/**
 * The next events in commit order for which `where` holds, as they are stored. Of one that is larger than any of Roster
 * it reads the beginnings of its texts, and no payload.
 */
export async function readEvents(sql: Sql, where: Fragment, limit = mostRows): Promise<ReadEvent[]> {
  const measured = sql`
    select *, ${rowBytes(sql)} as bytes from events where ${where}
    order by events.transaction_id, events.position limit ${limit}
  `
  const rows = await sql<EventText[]>`
    select ${wholeColumns(sql)} from (${fitting(sql, measured, sql`transaction_id, position`)}) events
    order by events.transaction_id, events.position
  `
  return rows.map(readEvent)
}
