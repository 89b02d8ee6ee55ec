import type { StoredEvent } from '#lib/events/stored-event'
import type { Sql } from '#lib/eventstore/database'
import { hasWholeNumbers } from './whole-numbers.ts'
import { largestValue, textsOfEvent } from './page-limits.ts'

/**
 * An event as it was read. `loss`: why it is stored otherwise than JavaScript tells it. Where it is not small, nobody
 * read more than the beginnings of its texts.
 */
export type ReadEvent = StoredEvent & { loss?: string; isSmall: boolean; bytes: number }

/** An event as `wholeColumns` select it. */
export type EventText = Omit<ReadEvent, 'payload' | 'loss'> & { payload: string; hasWholeTime: boolean }

/** Characters of a text that is too large. An id of Roster is shorter. */
const beginning = 300

/** The columns of a row of `events` that also has its `bytes`. Of one that is too large they have the beginnings. */
export function wholeColumns(sql: Pick<Sql, 'unsafe'>) {
  const isSmall = `bytes <= ${largestValue}`
  const texts = textsOfEvent.map(
    (name) => `case when ${isSmall} then ${name} else left(${name}, ${beginning}) end as ${name}`,
  )
  return sql.unsafe(`
    position, transaction_id::text, sequence, created_at, ${texts.join()}, ${isSmall} as "isSmall", bytes::float8,
    case when ${isSmall} then payload::text else 'null' end as payload,
    created_at = date_trunc('milliseconds', created_at) as "hasWholeTime"
  `)
}

/** Reads the columns. What comes beside them stays as it is. */
export function readEvent<Row extends EventText>(row: Row): Omit<Row, 'payload'> & ReadEvent {
  const loss = lossOf(row)
  return { ...row, payload: JSON.parse(row.payload) as object, ...(loss !== undefined && { loss }) }
}

// Services take the time from JavaScript, and write numbers as it does.
function lossOf({ payload, isSmall, hasWholeTime }: EventText): string | undefined {
  if (!isSmall) return 'it is larger than any of Roster'
  if (!hasWholeTime) return 'its time has a part of a millisecond'
  try {
    return hasWholeNumbers(payload) ? undefined : 'a number in its payload is none that a service writes'
  } catch {
    return 'its payload is nested deeper than any of Roster'
  }
}
