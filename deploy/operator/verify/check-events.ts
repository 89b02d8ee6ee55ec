import { describeEvent } from '#lib/events/cloud-event'
import type { StoredEvent } from '#lib/events/stored-event'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/eventstore/personal/personal'
import { isSealed } from '#lib/eventstore/personal/sealed-rows'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../provision.ts'
import type { Finding } from './finding.ts'
import type { Positions } from './positions.ts'

/** Which events must be in the stream. */
export interface Expected {
  /** How far the service has published its events. */
  published: ChainPlace
  inStream: Positions
  /** Events before it have left the stream by their age. */
  since: Date
}

const pageSize = 500

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
): AsyncGenerator<{ found: Finding[]; looked: number; of: number }> {
  const [{ end }] = await sql<[{ end: string }]>`select coalesce(max(position), 0)::text as end from events`
  const types = data ? [data.subject, ...data.events] : []
  for (let last: string | undefined; ;) {
    const stored = await sql<
      (StoredEvent & { known: boolean; published: boolean; parked: boolean; person: unknown })[]
    >`
      select ${eventColumns(sql)},
        exists (select from aggregates a where a.type = aggregate_type and a.id = aggregate_id) as known,
        exists (select from parked_events p where p.position = e.position) as parked,
        case when aggregate_type = any(${types}) then (
          select a.state from aggregates a where a.type = ${types[0] ?? ''} and a.id = aggregate_id
        ) end as person,
        (transaction_id, position) <= (
          ${expected?.published.transactionId ?? '0'}::xid8, ${expected?.published.position ?? '0'}::bigint
        ) as published
      from events e
      where ${last === undefined ? sql`true` : sql`position > ${last}`} and position <= ${end}
      order by e.position limit ${pageSize}
    `
    if (stored.length === 0) return
    const rows = personal ? await personal.openEvents(sql, [...stored]) : stored
    const found = rows.flatMap((row) => {
      const name = `events position=${row.position}`
      if (!row.known && !forgotten.includes(row.aggregate_type)) {
        const object = `${row.aggregate_type} ${row.aggregate_id}`
        return [{ service, row: name, problem: `aggregates has no row for its object, ${object}` }]
      }
      const parked = row.parked ? 'it is parked: ' : ''
      if (isSealed(row)) return [{ service, row: name, problem: `${parked}its sealed part cannot be opened` }]
      const unreadable = problemOf(service, row)
      if (unreadable !== undefined) return [{ service, row: name, problem: `${parked}${unreadable}` }]
      if (!expected || !row.published || row.created_at < expected.since) return []
      // The events of a forgotten person leave the stream.
      const mayBeGone = row.person !== null && data?.isForgotten(row.person)
      if (mayBeGone || expected.inStream.has(Number(row.position))) return []
      return [{ service, row: name, problem: `${parked}the stream does not have it` }]
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
