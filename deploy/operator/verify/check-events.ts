import { describeEvent } from '#lib/events/cloud-event'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Sql } from '#lib/eventstore/database'
import type { Personal } from '#lib/eventstore/personal/personal'
import { isSealed } from '#lib/eventstore/personal/sealed-rows'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../provision.ts'
import type { Finding } from './finding.ts'
import { firstPage, fitting, largestValue, nextLimit, rowBytes } from '../reading/page-limits.ts'
import type { Positions } from './positions.ts'
import type { Published } from './published.ts'
import { type EventText, readEvent, wholeColumns } from '../reading/read-rows.ts'

/** Which events must be in the stream. */
export interface Expected {
  published: Published
  inStream: Positions
  /** Events before it have left the stream by their age. */
  since: Date
  /** Events before it are published, unless the service came to a halt. */
  until: Date
}

/** What the stream lacks: an event that was published, or one that should be by now. */
export type Missing = 'lost' | 'late'

/**
 * Looks at every event: whether its aggregate is there, whether proto/ knows it, and whether the stream has it. Without
 * `expected` it does not ask for the stream.
 */
export async function* checkEvents(
  sql: Sql,
  service: StoringService,
  { forgotten = [], personal: data }: Vocabulary,
  personal: Personal | undefined,
  expected: Expected | undefined,
): AsyncGenerator<{ found: (Finding & { missing?: Missing })[]; looked: number; of: number }> {
  const [{ end }] = await sql<[{ end: string }]>`select coalesce(max(position), 0)::text as end from events`
  const types = data ? [data.subject, ...data.events] : []
  let limit = firstPage
  for (let last: string | undefined; ;) {
    const measured = sql`
      select *, ${rowBytes(sql)} + coalesce(case when aggregate_type = any(${types}) then (
        select octet_length(a.state::text) from aggregates a
        where a.type = ${types[0] ?? ''} and a.id = aggregate_id
      ) end, 0) as bytes
      from events
      where ${last === undefined ? sql`true` : sql`position > ${last}`} and position <= ${end}
      order by position limit ${limit}
    `
    const texts = await sql<(EventText & { known: boolean; published: boolean; parked: boolean; person: unknown })[]>`
      select ${wholeColumns(sql)},
        exists (select from aggregates a where a.type = aggregate_type and a.id = aggregate_id) as known,
        exists (select from parked_events p where p.position = e.position) as parked,
        case when bytes <= ${largestValue} and aggregate_type = any(${types}) then (
          select a.state from aggregates a where a.type = ${types[0] ?? ''} and a.id = aggregate_id
        ) end as person,
        (transaction_id, position) <= (
          ${expected?.published.transactionId ?? '0'}::xid8, ${expected?.published.position ?? '0'}::bigint
        ) as published
      from (${fitting(sql, measured, sql`position`)}) e
      order by e.position
    `
    if (texts.length === 0) return
    limit = nextLimit(texts.length)
    const stored = texts.map(readEvent)
    const rows = personal ? await personal.openEvents(sql, stored) : stored
    const found = rows.flatMap((row) => {
      const position = Number(row.position)
      // As text: a position may be larger than an exact number.
      const name = `events position=${row.position}`
      if (!row.known && !forgotten.includes(row.aggregate_type)) {
        const object = `${row.aggregate_type} ${row.aggregate_id}`
        return [{ service, row: name, problem: `aggregates has no row for its object, ${object}` }]
      }
      if (Number(row.sequence) < 1) return [{ service, row: name, problem: 'its sequence is below 1' }]
      const parked = row.parked ? 'it is parked: ' : ''
      if (row.loss !== undefined) return [{ service, row: name, problem: `${parked}${row.loss}` }]
      if (isSealed(row)) return [{ service, row: name, problem: `${parked}its sealed part cannot be opened` }]
      const unreadable = problemOf(service, row)
      if (unreadable !== undefined) return [{ service, row: name, problem: `${parked}${unreadable}` }]
      // The events of a forgotten person leave the stream.
      const mayBeGone = row.person !== null && data?.isForgotten(row.person)
      if (!expected || mayBeGone || row.created_at < expected.since || expected.inStream.has(position)) return []
      const problem = `${parked}the stream does not have it`
      if (row.published) return [{ service, row: name, problem, missing: 'lost' as const }]
      return row.created_at < expected.until ? [{ service, row: name, problem, missing: 'late' as const }] : []
    })
    last = rows.at(-1)!.position
    yield { found, looked: Number(last), of: Number(end) }
  }
}

function problemOf(service: StoringService, event: StoredEvent): string | undefined {
  try {
    describeEvent(service, event)
    return undefined
  } catch (error) {
    return `it is not what proto/ says: ${(error as Error).message}`
  }
}
