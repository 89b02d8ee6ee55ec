import { describeEvent } from '#lib/events/cloud-event'
import type { StoredEvent } from '#lib/events/stored-event'
import type { ChainPlace } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/encryption/personal'
import { isEncrypted } from '#lib/encryption/encrypted-fields'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import type { StoringService } from '../../deploy/provision.ts'
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

/** An event, whether its aggregate exists, whether it is a dead letter, and the state of the person it is about. */
type Row = StoredEvent & { known: boolean; parked: boolean; published: boolean; person: unknown }

/**
 * Looks at every event: whether its aggregate is there, whether proto/ knows it, and whether the stream has it. Without
 * `expected` it does not ask for the stream.
 */
export async function* checkEvents(
  sql: Sql,
  service: StoringService,
  { shortLived = [], personal: data }: Vocabulary,
  personal: Personal | undefined,
  expected: Expected | undefined,
): AsyncGenerator<{ found: Finding[]; looked: number; of: number }> {
  const [{ end }] = await sql<[{ end: number }]>`select coalesce(max(position), 0)::float8 as end from events`
  const { transactionId, position } = expected?.published ?? { transactionId: '0', position: '0' }
  const types = data ? [data.subject, ...data.events] : []
  for (let last = -1; ;) {
    const rows = await sql<Row[]>`
      select ${eventColumns(sql)},
        exists (select from aggregates a where a.type = aggregate_type and a.id = aggregate_id) as known,
        exists (select from parked_events p where p.position = e.position) as parked,
        (transaction_id, position) <= (${transactionId}::xid8, ${position}::bigint) as published,
        case when aggregate_type = any(${types}) then (
          select a.state from aggregates a where a.type = ${types[0] ?? ''} and a.id = aggregate_id
        ) end as person
      from events e where position > ${last} and position <= ${end} order by e.position limit ${pageSize}
    `
    if (rows.length === 0) return
    const events = personal ? await personal.decryptEvents(sql, [...rows]) : rows
    const found = events.flatMap((event) => {
      const problem = problemOf(event)
      return problem === undefined ? [] : [{ service, row: `events position=${event.position}`, problem }]
    })
    last = Number(rows.at(-1)!.position)
    yield { found, looked: last, of: end }
  }

  function problemOf(event: Row): string | undefined {
    const { aggregate_type: type, aggregate_id: id, person } = event
    if (!event.known && !shortLived.includes(type)) return `aggregates has no row for its object, ${type} ${id}`
    const deadLetter = event.parked ? 'it is a dead letter: ' : ''
    if (isEncrypted(event)) return `${deadLetter}its encrypted part cannot be decrypted`
    try {
      describeEvent(service, event)
    } catch (error) {
      return `${deadLetter}it is not what proto/ says: ${(error as Error).message}`
    }
    if (!expected || !event.published || event.created_at < expected.since) return undefined
    // The events of an erased person leave the stream.
    if (person !== null && data?.isErased(person)) return undefined
    return expected.inStream.has(Number(event.position)) ? undefined : `${deadLetter}the stream does not have it`
  }
}
