import { type Aggregate, type AggregateKey, keyText } from './aggregate.ts'
import type { Sql, Transaction } from '../database/database.ts'
import type { Vocabulary } from './vocabulary.ts'
import { findKeys, passingOver, type Personal } from '../encryption/personal.ts'
import { isEncrypted, decryptEvent } from '../encryption/encrypted-fields.ts'
import type { StoredEvent } from '../events/stored-event.ts'

/** An aggregate as its events make it. `problem`: why they do not. */
export interface Folded {
  aggregate: Aggregate
  problem?: string
}

/** Events that are in memory at once: an aggregate may have any number of them. */
const atOnce = 1000

/** Folds the events of these aggregates as the store does, up to their `sequence`. */
export async function foldEvents(
  sql: Sql | Transaction,
  model: Vocabulary,
  personal: Personal | undefined,
  keys: (AggregateKey & { sequence: number })[],
): Promise<Map<string, Folded>> {
  const never = new Date(0)
  const missing = { organizationId: '', sequence: 0, createdAt: never, changedAt: never, state: undefined }
  const folded = new Map<string, Folded>(
    keys.map(({ type, id }) => [keyText({ type, id }), { aggregate: { type, id, ...missing } }]),
  )
  // The cursor has the connection meanwhile, so first come the keys.
  const ids = [...new Set(keys.map(({ id }) => id))]
  const subjects = personal && (await findKeys(sql, passingOver(personal), ids))
  const reading = sql<StoredEvent[]>`
    select e.* from unnest(
      ${keys.map(({ type }) => type)}::text[], ${keys.map(({ id }) => id)}::text[],
      ${keys.map(({ sequence }) => sequence)}::bigint[]
    ) as k (of_type, id, last)
    join events e on e.aggregate_type = k.of_type and e.aggregate_id = k.id and e.sequence <= k.last
    order by e.aggregate_type, e.aggregate_id, e.sequence
  `
  for await (const events of reading.cursor(atOnce))
    for (const row of events) {
      const event = subjects ? decryptEvent(subjects.get(row.aggregate_id), row) : row
      add(folded.get(`${event.aggregate_type}/${event.aggregate_id}`)!, event, model)
    }
  return folded
}

function add(folded: Folded, event: StoredEvent, { evolve }: Vocabulary): void {
  const { aggregate } = folded
  const expected = aggregate.sequence + 1
  if (Number(event.sequence) !== expected) folded.problem ??= `event ${expected} is missing`
  const evolved = evolve[event.aggregate_type]
  try {
    if (!evolved) throw new Error(`no function evolves a ${event.aggregate_type}`)
    if (isEncrypted(event)) throw new Error('its encrypted part cannot be decrypted')
    aggregate.state = evolved(aggregate.state, event, event.created_at)
  } catch (error) {
    folded.problem ??= `event ${event.sequence} cannot be applied: ${(error as Error).message}`
  }
  if (aggregate.sequence === 0)
    Object.assign(aggregate, { organizationId: event.organization_id, createdAt: event.created_at })
  if (aggregate.organizationId !== event.organization_id)
    folded.problem ??= `event ${event.sequence} belongs to another organization`
  aggregate.sequence = Number(event.sequence)
  aggregate.changedAt = event.created_at
}
