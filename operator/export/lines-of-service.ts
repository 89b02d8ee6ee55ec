import { type AggregateKey, loadAggregates } from '#lib/eventstore/aggregate'
import type { Sql } from '#lib/database/database'
import { readPage } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/encryption/personal'
import { encryptedPart } from '#lib/encryption/encrypted-fields'
import type { StoredEvent } from '#lib/events/stored-event'
import type { StoringService } from '../../deploy/provision.ts'
import type { Prover } from './prove-events.ts'

export interface ExportLine {
  kind: 'event' | 'object' | 'page' | 'entries' | 'checkpoint'
}

/** What the lines are made of. With proofs, only what is signed is in them. */
export interface Source {
  sql: Sql
  service: StoringService
  organization: string
  personal: Personal | undefined
  prover: Prover | undefined
}

/** Events of a page, and bytes of their payloads. */
const [pageSize, pageBytes] = [500, 4 * 1024 * 1024]

/**
 * All that a service has of an organization. Every event is in it that was committed before. So the end is not the
 * oldest open transaction, which may be anybody's. Of transactions that were under way, some events may be in it: each
 * of them with all earlier ones of its object. An object comes after its first event, as it is at that moment.
 */
export async function* linesOfService(source: Source): AsyncGenerator<ExportLine> {
  const { sql, organization, personal, prover } = source
  const [newest] = await sql<{ end: string }[]>`
    select transaction_id::text as end from events order by events.transaction_id desc, events.position desc limit 1
  `
  const end = newest?.end ?? '0'
  let last = { transaction_id: '0', position: '0' }
  for (;;) {
    const where = sql`
      organization_id = ${organization} and transaction_id <= ${end}::xid8
      ${prover ? sql`and (transaction_id, position) <= (${prover.end.transactionId}::xid8, ${prover.end.position}::bigint)` : sql``}
      and (transaction_id, position) > (${last.transaction_id}::xid8, ${last.position}::bigint)
    `
    const stored: StoredEvent[] = await readPage(sql, where, pageSize, pageBytes)
    if (stored.length === 0) return
    if (prover) for await (const line of prover.lines(stored)) yield line as ExportLine
    const events = personal ? await personal.decryptEvents(sql, stored) : stored
    for (const [index, event] of events.entries()) yield eventLine(source, event, stored[index]!)
    const first = stored.filter(({ sequence }) => sequence === '1')
    const keys = first.map((event) => ({ type: event.aggregate_type, id: event.aggregate_id }))
    for (const object of await readObjects(sql, keys, personal))
      yield { kind: 'object', service: source.service, ...object } as ExportLine
    last = stored.at(-1)!
  }
}

function eventLine({ service, prover }: Source, event: StoredEvent, stored: StoredEvent) {
  const sealed = encryptedPart(stored.payload)
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
    ...(event.erased && { forgotten: true }),
    aggregateType: event.aggregate_type,
    aggregateId: event.aggregate_id,
    organizationId: event.organization_id,
    requestId: event.request_id,
    createdAt: event.created_at,
    // With it, the event is proven as it is stored, also where it is not decrypted.
    ...(sealed !== undefined && { sealed }),
    ...(prover && { proof: prover.proofOf(stored) }),
  }
}

// What is encrypted of a person who is erased has no state, and is left out.
async function readObjects(sql: Sql, keys: AggregateKey[], personal: Personal | undefined): Promise<object[]> {
  const loaded = await loadAggregates(sql, keys, personal)
  return loaded
    .filter(({ sequence, state, unreadable }) => sequence > 0 && (state !== undefined || unreadable))
    .map(({ unreadable, ...object }) => (unreadable ? { ...object, unreadable: true } : object))
}
