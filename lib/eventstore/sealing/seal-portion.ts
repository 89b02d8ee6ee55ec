import type { KeyObject } from 'node:crypto'
import type { StoredEvent } from '../../events/stored-event.ts'
import type { Aggregate } from '../aggregate.ts'
import type { Sql, Transaction } from '../database.ts'
import { eventColumns } from '../event-page.ts'
import type { Vocabulary } from '../vocabulary.ts'
import { findKeys, type Personal } from '../personal/personal.ts'
import { sealedPart, sealPayload, sealState } from '../personal/sealed-rows.ts'
import { lost } from '../sealer.ts'

/** What seals the rows of earlier versions. */
export interface Sealing {
  sql: Sql
  personal: Personal
  vocabulary: Vocabulary
  /** Writes what else the service needs of people once their states are sealed. */
  sealed(transaction: Transaction, people: Aggregate[]): Promise<void>
  /** Deletes what else is personal and plain, once all people are done. */
  finished(transaction: Transaction): Promise<void>
}

const portion = 50

/** What became of some people. */
export interface SealedPortion {
  last: string
  people: number
  /** Whether anything was still plain. */
  changed: boolean
  /** Those whom it passed over, because their key is lost or cannot be opened; and whether they have plain rows. */
  skipped: { id: string; hinders: boolean }[]
}

/**
 * Seals all rows of the next people after this id, in one transaction. Undefined after the last one. A second run changes
 * nothing.
 */
export async function sealPortion(sealing: Sealing, after: string): Promise<SealedPortion | undefined> {
  const { sql, personal } = sealing
  const { data } = personal
  const types = [data.subject, ...data.events]
  return sql.begin(async (transaction) => {
    const ids = (
      await transaction<{ id: string }[]>`
        select id from aggregates where type = ${data.subject} and id > ${after} order by id limit ${portion}
      `
    ).map(({ id }) => id)
    if (ids.length === 0) return undefined
    // In the order in which appends lock them.
    const all = await transaction<Row[]>`
      select type, id, organization_id as "organizationId", sequence, created_at as "createdAt",
        changed_at as "changedAt", state
      from aggregates where type = any(${types}) and id = any(${ids}) order by type, id for update
    `
    const allEvents = await transaction<StoredEvent[]>`
      select ${eventColumns(transaction)} from events
      where aggregate_type = any(${types}) and aggregate_id = any(${ids}) order by events.position
    `
    const { keys, made, without } = await giveKeys(transaction, personal, all)
    const aggregates = all.filter(({ id }) => !without.has(id))
    const events = allEvents.filter((event) => !without.has(event.aggregate_id))
    const skipped = Array.from(without, (id) => ({
      id,
      hinders:
        all.some((row) => row.id === id && isPlain(personal, row)) ||
        allEvents.some((event) => event.aggregate_id === id && sealPayload(lost, event) !== event.payload),
    }))
    const payloads = events.flatMap((event) => {
      const payload = sealPayload(keys.get(event.aggregate_id) ?? lost, event)
      return payload === event.payload ? [] : [{ position: event.position, payload }]
    })
    const plain = aggregates.filter((row) => isPlain(personal, row))
    await writePayloads(transaction, payloads)
    await writeStates(transaction, plain, keys)
    const people = plain.filter(({ type }) => type === data.subject).map(toAggregate)
    await holdNames(transaction, sealing, people)
    await sealing.sealed(transaction, people)
    const changed = made + payloads.length + plain.length > 0
    if (changed) await transaction`update sealing set changed_at = now()`
    return { last: ids.at(-1)!, people: ids.length, changed, skipped }
  })
}

type Row = Omit<Aggregate, 'sequence'> & { sequence: string }

function toAggregate(row: Row): Aggregate {
  return { ...row, sequence: Number(row.sequence) }
}

// Whoever is forgotten already gets no key. Whoever has lost it gets no other one: the first may come back.
async function giveKeys(transaction: Transaction, personal: Personal, aggregates: Row[]) {
  const { data } = personal
  const people = aggregates.filter(({ type, state }) => type === data.subject && !data.isForgotten(state))
  const unwrap = (text: string) => unwrapOr(personal, text)
  const found = await findKeys(
    transaction,
    { unwrap },
    people.map(({ id }) => id),
  )
  const isLost = ({ id, state }: Row) => (found.has(id) ? !found.get(id) : sealedPart(state) !== undefined)
  const without = new Set(people.filter(isLost).map(({ id }) => id))
  const keys = new Map([...found].flatMap(([id, key]) => (key ? [[id, key] as const] : [])))
  const fresh = people.filter(({ id }) => !found.has(id) && !without.has(id))
  const made = personal.make(fresh.length).map((key, index) => ({ id: fresh[index]!.id, ...key }))
  if (made.length > 0)
    await transaction`
      insert into subject_keys ${transaction(made.map(({ id, wrapped }) => ({ subject_id: id, wrapped })))}
    `
  for (const { id, key } of made) keys.set(id, key)
  return { keys, made: made.length, without }
}

function unwrapOr({ unwrap }: Personal, text: string): KeyObject | undefined {
  try {
    return unwrap(text)
  } catch {
    return undefined
  }
}

function isPlain({ data }: Personal, { type, state }: Row): boolean {
  if (sealedPart(state) !== undefined) return false
  return type === data.subject ? !data.isForgotten(state) : data.states.includes(type)
}

async function writePayloads(transaction: Transaction, payloads: { position: string; payload: object }[]) {
  if (payloads.length === 0) return
  await transaction`
    update events set payload = changed.payload
    from json_to_recordset(${JSON.stringify(payloads)}::text::json) as changed (position bigint, payload jsonb)
    where events.position = changed.position
  `
}

async function writeStates(transaction: Transaction, plain: Row[], keys: Map<string, KeyObject>) {
  if (plain.length === 0) return
  const rows = plain.map((row) => ({ type: row.type, id: row.id, state: sealState(keys.get(row.id) ?? lost, row) }))
  await transaction`
    update aggregates set state = changed.state
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as changed (type text, id text, state jsonb)
    where aggregates.type = changed.type and aggregates.id = changed.id
  `
}

async function holdNames(transaction: Transaction, { personal, vocabulary }: Sealing, people: Aggregate[]) {
  const rows = people.flatMap((person) =>
    (vocabulary.keys?.(person) ?? [])
      .filter(({ kind }) => personal.data.keyKinds.includes(kind))
      .map(({ kind, scope, key }) => ({
        kind,
        scope,
        key: personal.formsOf({ kind, key }, 'on')[0]!,
        aggregate_id: person.id,
        twin: key,
      })),
  )
  if (rows.length === 0) return
  const added = transaction(rows, 'kind', 'scope', 'key', 'aggregate_id')
  await transaction`insert into unique_keys ${added} on conflict do nothing`
  await transaction`
    insert into first_keys (kind, key, scope)
    select r.kind, r.key, r.scope
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (kind text, scope text, key text, twin text)
    join first_keys f on f.kind = r.kind and f.key = r.twin and f.scope = r.scope
    order by r.kind, r.key
    on conflict do nothing
  `
}
