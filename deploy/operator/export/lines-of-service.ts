import type { Sql } from '#lib/eventstore/database'
import type { Personal } from '#lib/eventstore/personal/personal'
import { sealedPart } from '#lib/eventstore/personal/sealed-rows'
import type { StoredEvent } from '#lib/events/stored-event'
import type { StoringService } from '../../provision.ts'
import { firstPage, nextLimit } from '../reading/page-limits.ts'
import { readEvents } from '../reading/read-events.ts'
import { type ReadObject, readObjects } from '../reading/read-objects.ts'
import type { Prover } from '../verify/audit/export/prove-events.ts'

/** A line of an export. */
export type ExportLine = { kind: 'event' | 'object' | 'page' | 'entries' | 'checkpoint' } | Omitted

/** A row that nobody read, because it is larger than any of Roster. */
export interface Omitted {
  kind: 'omitted'
  service: StoringService
  table: 'events' | 'aggregates'
  /** Of an event. */
  position?: string
  /** Of an object. */
  type?: string
  id?: string
  bytes: number
}

/** What the lines are made of. With proofs, only what is signed is in them. */
export interface Source {
  sql: Sql
  service: StoringService
  organization: string
  personal: Personal | undefined
  prover: Prover | undefined
}

/**
 * All that a service has of an organization. Every event is in it that was committed before. So the end is not the
 * oldest open transaction, which may be anybody's. Of transactions that were under way, some events may be in it: each of
 * them with all earlier ones of its object. An object comes after its first event, as it is at that moment.
 */
export async function* linesOfService(source: Source): AsyncGenerator<ExportLine> {
  const { sql, organization, personal, prover } = source
  const [{ end }] = await sql<[{ end: string }]>`select pg_snapshot_xmax(pg_current_snapshot())::text as end`
  const [last, limit] = [{ transaction_id: '0', position: '0' }, { rows: firstPage }]
  for (;;) {
    const where = sql`
      organization_id = ${organization} and transaction_id < ${end}::xid8
      ${prover ? sql`and (transaction_id, position) <= (${prover.end.transactionId}::xid8, ${prover.end.position}::bigint)` : sql``}
      and (transaction_id, position) > (${last.transaction_id}::xid8, ${last.position}::bigint)
    `
    const read = await readEvents(sql, where, limit.rows)
    if (read.length === 0) return
    const stored = read.filter(({ isSmall }) => isSmall)
    const events = personal ? await personal.openEvents(sql, stored) : stored
    if (prover) for await (const line of prover.lines(stored)) yield line as ExportLine
    for (const { position, bytes, isSmall } of read)
      if (!isSmall) yield { kind: 'omitted', service: source.service, table: 'events', position, bytes }
    for (const [index, event] of events.entries()) yield eventLine(source, event, stored[index]!)
    const first = read.filter(({ sequence }) => sequence === '1')
    const keys = first.map((event) => ({ type: event.aggregate_type, id: event.aggregate_id }))
    for await (const objects of readObjects(sql, keys, personal))
      for (const object of objects) {
        const line = objectLine(source, object)
        if (line) yield line
      }
    Object.assign(last, read.at(-1)!)
    limit.rows = nextLimit(read.length)
  }
}

function eventLine({ service, prover }: Source, event: StoredEvent & { forgotten?: boolean }, stored: StoredEvent) {
  const sealed = sealedPart(stored.payload)
  return {
    kind: 'event' as const,
    service,
    position: event.position,
    sequence: event.sequence,
    type: event.type,
    payload: event.payload,
    creator: event.creator,
    cause: event.cause,
    traceparent: event.traceparent,
    ...(event.forgotten && { forgotten: true }),
    aggregateType: event.aggregate_type,
    aggregateId: event.aggregate_id,
    organizationId: event.organization_id,
    requestId: event.request_id,
    createdAt: event.created_at,
    // With it, the event is proven as it is stored, also where nobody opens it.
    ...(sealed !== undefined && { sealed }),
    ...(prover && { proof: prover.proofOf(stored) }),
  }
}

function objectLine({ service }: Source, object: ReadObject): ExportLine | undefined {
  const { isSmall, isUnreadable, bytes, ...told } = object
  if (!isSmall) return { kind: 'omitted', service, table: 'aggregates', type: told.type, id: told.id, bytes }
  // What is sealed of a person who is forgotten has no state.
  if (told.state === undefined && !isUnreadable) return undefined
  return { kind: 'object', service, ...told, ...(isUnreadable && { unreadable: true }) } as ExportLine
}
