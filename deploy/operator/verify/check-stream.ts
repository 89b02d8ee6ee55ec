import { fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import { type JetStreamManager, NatsError, type StoredMsg } from 'nats'
import { describeEvent, type PublishedEvent, readEvent } from '#lib/events/cloud-event'
import { messageOf } from '#lib/events/messages'
import { personalFields } from '#lib/events/personal-fields'
import { subjectOf } from '#lib/events/publish'
import type { StoredEvent } from '#lib/events/stored-event'
import { checkpointSubject, checkpointType } from '#lib/eventstore/audit/publish-checkpoint'
import { streamName } from '#lib/events/stream'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/eventstore/personal/personal'
import type { StoringService } from '../../provision.ts'
import type { System } from '../system.ts'
import { differences, type Finding, rowName } from './finding.ts'
import type { Positions } from './positions.ts'

/** The positions of the events in the stream, by their service. */
export type InStream = Record<StoringService, Positions>

const pageSize = 200
/** Messages that are asked for at once. NATS ends a connection that leaves too many bytes unread. */
const atOnce = 8

/**
 * Reads the whole stream, and yields the messages of these services that are not what the database says. Adds each event
 * to `seen`.
 */
export async function* checkStream(
  system: System,
  services: readonly StoringService[],
  seen: InStream,
): AsyncGenerator<{ found: Finding[]; looked: number; of: number }> {
  const manager = await system.jetstream()
  const { state } = await manager.streams.info(streamName)
  const { last_seq: last } = state
  // A stream that never had a message says 0, which none has.
  const first = Math.max(state.first_seq, 1)
  for (let from = first; from <= last; from += pageSize) {
    const to = Math.min(last, from + pageSize - 1)
    const found = await compare(system, services, await readMessages(manager, from, to), seen)
    yield { found, looked: to - first + 1, of: last - first + 1 }
  }
}

async function readMessages(manager: JetStreamManager, from: number, to: number): Promise<StoredMsg[]> {
  const read: StoredMsg[] = []
  let next = from
  const readSome = async () => {
    while (next <= to) {
      const message = await readOne(manager, next++)
      if (message) read.push(message)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, readSome))
  return read.sort((one, other) => one.seq - other.seq)
}

// It expired, or somebody removed it. An event that is missing is found from the database's side.
async function readOne(manager: JetStreamManager, seq: number): Promise<StoredMsg | undefined> {
  try {
    return await manager.streams.getMessage(streamName, { seq })
  } catch (error) {
    if (error instanceof NatsError && (error.code === '404' || error.api_error?.code === 404)) return undefined
    throw error
  }
}

interface Told {
  message: StoredMsg
  event: PublishedEvent
  /** The position of an event, or the number of a checkpoint. */
  number: number
}

async function compare(
  system: System,
  services: readonly StoringService[],
  messages: StoredMsg[],
  seen: InStream,
): Promise<Finding[]> {
  const found: Finding[] = []
  const say = (service: StoringService, { seq, subject }: StoredMsg, problem: string) =>
    void found.push({ service, row: rowName(`stream ${streamName}`, { seq, subject }), problem })
  for (const service of services) {
    const [events, checkpoints]: [Told[], Told[]] = [[], []]
    for (const message of messages) {
      if (!message.subject.startsWith(`roster.events.${service}.`)) continue
      const event = readMessage(message)
      const position = Number(new RegExp(`^${service}-(\\d{1,15})$`).exec(event?.id ?? '')?.[1])
      if (!event) say(service, message, 'it has no attributes of CloudEvents')
      else if (event.type === checkpointType) checkpoints.push({ message, event, number: event.sequence })
      else if (Number.isNaN(position)) say(service, message, 'it names no event of its service')
      else events.push({ message, event, number: position })
    }
    const signed = await readCheckpoints(system.sql(service), checkpoints)
    for (const { message, event, number } of checkpoints) {
      if (message.subject !== checkpointSubject(service))
        say(service, message, 'it calls itself a checkpoint, and lies elsewhere than those')
      else if (!signed.has(number)) say(service, message, 'the database has no such checkpoint')
      else if ((event.data as { jws?: unknown }).jws !== signed.get(number))
        say(service, message, `it is not checkpoint ${number} of the database`)
    }
    const stored = await readEvents(system.sql(service), await system.personal(service), events)
    for (const told of events) {
      const event = stored.get(told.number)
      if (event) seen[service].add(told.number)
      const problem = event ? problemOf(service, told, event) : `the database has no event ${told.event.id}`
      if (problem !== undefined) say(service, told.message, problem)
    }
  }
  return found
}

function readMessage(message: StoredMsg): PublishedEvent | undefined {
  try {
    return readEvent({ headers: message.header, json: () => message.json() })
  } catch {
    return undefined
  }
}

async function readCheckpoints(sql: Sql, told: Told[]): Promise<Map<number, string>> {
  const numbers = told.map(({ number }) => number).filter(Number.isSafeInteger)
  const rows = await sql<{ number: number; jws: string }[]>`
    select number::float8, jws from audit_checkpoints where number = any(${numbers}::bigint[])
  `
  return new Map(rows.map(({ number, jws }) => [number, jws]))
}

async function readEvents(sql: Sql, personal: Personal | undefined, told: Told[]): Promise<Map<number, StoredEvent>> {
  const stored = await sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events where position = any(${told.map(({ number }) => number)}::bigint[])
  `
  const rows = personal ? await personal.openEvents(sql, [...stored]) : stored
  return new Map(rows.map((row) => [Number(row.position), row]))
}

function problemOf(service: StoringService, { message, event }: Told, stored: StoredEvent): string | undefined {
  if (message.subject !== subjectOf(service, stored)) return `its subject is not that of event ${event.id}`
  let expected
  try {
    expected = describeEvent(service, stored)
  } catch (error) {
    return `event ${event.id} of the database is not what proto/ says: ${(error as Error).message}`
  }
  const { dataSchema: _, ...should } = expected
  // Former versions told of no cause and no trace.
  const is = { ...event, data: today(stored, event.data) }
  for (const name of ['cause', 'causationId', 'traceparent'] as const) if (is[name] === '') should[name] = ''
  const differing = differences(is, should, '')
  return differing.length > 0 ? `${differing.join(', ')}: not what event ${event.id} of the database says` : undefined
}

// A former version wrote no field that came later.
function today({ aggregate_type, type, forgotten }: StoredEvent, data: unknown): unknown {
  try {
    const { desc } = messageOf(aggregate_type, type)
    const read = fromJson(desc, data as JsonValue, { ignoreUnknownFields: true })
    const told = toJson(desc, read, { alwaysEmitImplicit: true }) as JsonObject
    // What the stream still has of a forgotten person is on its way out.
    if (forgotten) for (const name of personalFields(aggregate_type, type)) delete told[name]
    return told
  } catch {
    return data
  }
}
