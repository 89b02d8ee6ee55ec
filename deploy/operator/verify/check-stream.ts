import { fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import type { StoredMsg } from 'nats'
import { describeEvent, type PublishedEvent, readEvent } from '#lib/events/cloud-event'
import { messageOf } from '#lib/events/messages'
import { personalFields } from '#lib/events/personal-fields'
import { subjectOf } from '#lib/events/publish'
import type { StoredEvent } from '#lib/events/stored-event'
import { checkpointType } from '#lib/eventstore/audit/publish-checkpoint'
import { streamName } from '#lib/events/stream'
import type { Sql } from '#lib/eventstore/database'
import { eventColumns } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/eventstore/personal/personal'
import { storingServices, type StoringService } from '../../provision.ts'
import { Refusal } from '../refusal.ts'
import type { System } from '../system.ts'
import { isOfService, problemOf as reasonOf } from './is-of-service.ts'
import { checkToldCheckpoints, type ToldCheckpoint } from './check-told-checkpoints.ts'
import { differences, type FileFinding, type Finding, rowName } from './finding.ts'
import { Positions } from './positions.ts'
import { type MessagePage, mostUnread, readMessages } from './read-messages.ts'
import { whileAlive } from './silence.ts'

/** The positions of the events in the stream, by their service. */
export type InStream = Record<StoringService, Positions>

/** What a part of the stream has that does not fit. */
export interface Checked {
  /** Of no service where a message cannot be read. */
  found: FileFinding[]
  looked: number
  of: number
  /** Every message of the part was read. */
  isWhole: boolean
}

/**
 * Reads the whole stream, and yields the messages that are not what the database says. Adds each event to `seen`. Passes
 * over messages of services that are not in `readable`, and takes out each one that cannot be read. Ends before the end
 * of the stream where the stream does not answer.
 */
export async function* checkStream(
  system: System,
  seen: InStream,
  readable: Set<StoringService>,
): AsyncGenerator<Checked> {
  const [nats, manager] = [await system.nats(), await system.jetstream()]
  // A connection that is cut tells it no more. Headers count as part of it.
  const { max_payload: largest } = nats.info!
  const { state } = await manager.streams.info(streamName)
  const { last_seq: last } = state
  // A stream that never had a message says 0, which none has.
  const first = Math.max(state.first_seq, 1)
  for (let from = first; from <= last;) {
    const { messages, unread, next, isCut } = await readMessages(nats, manager, from, last, largest)
    const found: FileFinding[] = await compare(system, messages, seen, readable)
    for (const { seq, reason } of isCut ? [] : unread) found.push(unreadable(seq, `it cannot be read: ${reason}`))
    const end = isCut && (unread.length > 0 || next === from) ? 'the connection to NATS was cut' : unanswered(unread)
    if (end) found.push(unreadable(unread[0]?.seq ?? next, `${end}, so no later message was compared`))
    yield { found, looked: next - first, of: last - first + 1, isWhole: !end && unread.length === 0 }
    if (end) return
    from = next
  }
}

function unanswered({ length }: MessagePage['unread']): string | undefined {
  return length >= mostUnread ? 'the stream does not answer' : undefined
}

function unreadable(seq: number, problem: string): FileFinding {
  return { row: rowName(`stream ${streamName}`, { seq }), problem }
}

interface Told {
  message: StoredMsg
  event: PublishedEvent
  position: number
}

async function compare(
  system: System,
  messages: StoredMsg[],
  seen: InStream,
  readable: Set<StoringService>,
): Promise<Finding[]> {
  const told = new Map<StoringService, Told[]>(storingServices.map((service) => [service, []]))
  const checkpoints = new Map<StoringService, ToldCheckpoint[]>(storingServices.map((service) => [service, []]))
  const found: Finding[] = []
  for (const message of messages) {
    const service = storingServices.find((name) => message.subject.startsWith(`roster.events.${name}.`))
    if (!service || !readable.has(service)) continue
    const read = readMessage(message)
    if (!read) {
      found.push(strange(service, message, 'it has no attributes of CloudEvents'))
      continue
    }
    if (read.type === checkpointType) {
      checkpoints.get(service)!.push({ message, event: read })
      continue
    }
    const position = Number(new RegExp(`^${service}-(\\d{1,15})$`).exec(read.id)?.[1])
    if (!Number.isSafeInteger(position)) found.push(strange(service, message, 'it names no event of its service'))
    else told.get(service)!.push({ message, event: read, position })
  }
  for (const [service, some] of told) {
    const signed = checkpoints.get(service)!
    if (some.length + signed.length === 0) continue
    let stored: Map<string, StoredEvent>
    try {
      const problems = await whileAlive(() => checkToldCheckpoints(system.sql(service), service, signed))
      found.push(...problems.map(({ message, problem }) => strange(service, message, problem)))
      const positions = some.map(({ position }) => position)
      stored = await whileAlive(async () => readEvents(system.sql(service), await system.personal(service), positions))
    } catch (error) {
      if (error instanceof Refusal) throw error
      readable.delete(service)
      const otherwise = isOfService(error) ? 'they cannot be read' : 'the connection ended before they were read'
      found.push({ service, row: 'events', problem: reasonOf(error, otherwise) })
      continue
    }
    for (const one of some) {
      const event = stored.get(String(one.position))
      // A position that no event has may be of any size, and is not remembered.
      if (event) seen[service].add(one.position)
      const problem = event ? problemOf(service, one, event) : `the database has no event ${one.event.id}`
      if (problem !== undefined) found.push(strange(service, one.message, problem))
    }
  }
  return found
}

function readMessage(message: StoredMsg): PublishedEvent | undefined {
  try {
    return readEvent({ headers: message.header, json: () => message.json() })
  } catch {
    return { id: '' } as PublishedEvent
  }
}

function strange(service: StoringService, { seq, subject }: StoredMsg, problem: string): Finding {
  return { service, row: rowName(`stream ${streamName}`, { seq, subject }), problem }
}

async function readEvents(
  sql: Sql,
  personal: Personal | undefined,
  positions: number[],
): Promise<Map<string, StoredEvent>> {
  const stored = await sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events where position = any(${positions}::bigint[])
  `
  const rows = personal ? await personal.openEvents(sql, stored) : stored
  return new Map(rows.map((row) => [row.position, row]))
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
