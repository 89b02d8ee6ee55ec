import { fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import type { StoredMsg } from 'nats'
import { describeEvent, type PublishedEvent } from '#lib/events/cloud-event'
import { messageOf } from '#lib/events/messages'
import { personalFields, unpublishedFields } from '#lib/events/marked-fields'
import { subjectOf } from '#lib/outbox/publish'
import type { StoredEvent } from '#lib/events/stored-event'
import { checkpointType } from '#lib/audit-log/publish-checkpoint'
import { checkpointSubject } from '#lib/events/checkpoint-subject'
import { streamName } from '#lib/events/stream'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoringService } from '../../deploy/provision.ts'
import { eventIn, streamPages } from '../stream-pages.ts'
import type { System } from '../system.ts'
import { differences, type Finding, rowName } from './finding.ts'
import type { Positions } from './positions.ts'

/** The positions of the events in the stream, by their service. */
export type InStream = Record<StoringService, Positions>

/**
 * Reads the whole stream, and yields the messages of these services that are not what the database says. Adds each
 * event to `seen`.
 */
export async function* checkStream(
  system: System,
  services: readonly StoringService[],
  seen: InStream,
): AsyncGenerator<{ found: Finding[]; looked: number; of: number }> {
  for await (const { messages, looked, of } of streamPages(system)) {
    const found: Finding[] = []
    for (const service of services) {
      const own = messages.filter(({ subject }) => subject.startsWith(`roster.events.${service}.`))
      found.push(...(await compare(system, service, own, seen[service])))
    }
    yield { found, looked, of }
  }
}

// Names what is wrong with messages of a service.
async function compare(
  system: System,
  service: StoringService,
  messages: StoredMsg[],
  seen: Positions,
): Promise<Finding[]> {
  const sql = system.sql(service)
  const parsed = messages.map((message) => {
    const event = eventIn(message)
    const position = Number(new RegExp(`^${service}-(\\d{1,16})$`).exec(event?.id ?? '')?.[1])
    return { message, event, position, isCheckpoint: event?.type === checkpointType }
  })
  const numbers = parsed.flatMap(({ event, isCheckpoint }) => (isCheckpoint ? (event?.sequence ?? []) : []))
  const checkpoints = await sql<{ number: number; jws: string }[]>`
    select number::float8, jws from audit_checkpoints where number = any(${numbers.filter(Number.isSafeInteger)}::bigint[])
  `
  const positions = parsed.flatMap(({ position }) => (Number.isNaN(position) ? [] : [position]))
  const rows = await sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events where position = any(${positions}::bigint[])
  `
  const stored = (await (await system.personal(service))?.decryptEvents(sql, [...rows])) ?? rows

  return parsed.flatMap(({ message, event, position, isCheckpoint }) => {
    const row = stored.find((one) => Number(one.position) === position)
    if (row) seen.add(position)
    const jws = checkpoints.find(({ number }) => number === event?.sequence)?.jws
    const problem = !event
      ? 'it has no attributes of CloudEvents'
      : isCheckpoint
        ? checkpointProblem(service, message, event, jws)
        : eventProblem(service, message, event, row)
    const { seq, subject } = message
    return problem === undefined ? [] : [{ service, row: rowName(`stream ${streamName}`, { seq, subject }), problem }]
  })
}

function checkpointProblem(
  service: string,
  { subject }: StoredMsg,
  { sequence, data }: PublishedEvent,
  jws: string | undefined,
): string | undefined {
  if (subject !== checkpointSubject(service)) return 'it calls itself a checkpoint, and lies elsewhere than those'
  if (jws === undefined) return 'the database has no such checkpoint'
  return (data as { jws?: unknown }).jws === jws ? undefined : `it is not checkpoint ${sequence} of the database`
}

/** What is wrong with an event in the stream. `stored`: the row, opened. Pure. */
export function eventProblem(
  service: string,
  { subject }: Pick<StoredMsg, 'subject'>,
  event: PublishedEvent,
  stored: StoredEvent | undefined,
): string | undefined {
  if (!stored) return `the database has no event ${event.id}`
  if (subject !== subjectOf(service, stored)) return `its subject is not that of event ${event.id}`
  let expected
  try {
    expected = describeEvent(service, stored)
  } catch (error) {
    return `event ${event.id} of the database is not what proto/ says: ${(error as Error).message}`
  }
  const { dataSchema: _, ...should } = expected
  // Former versions named no cause and no trace.
  const is = { ...event, data: today(stored, event.data) }
  for (const name of ['cause', 'causationId', 'traceparent'] as const) if (is[name] === '') should[name] = ''
  const differing = differences(is, should)
  return differing.length > 0 ? `${differing.join(', ')}: not what event ${event.id} of the database says` : undefined
}

// A former version wrote no field that came later.
function today({ aggregate_type, type, erased }: StoredEvent, data: unknown): unknown {
  try {
    const { desc } = messageOf(aggregate_type, type)
    const read = fromJson(desc, data as JsonValue, { ignoreUnknownFields: true })
    const json = toJson(desc, read, { alwaysEmitImplicit: true }) as JsonObject
    // toJson adds their default values. A value that the stream does have stays, and is a difference.
    for (const name of unpublishedFields(aggregate_type, type)) if (!(name in (data as object))) delete json[name]
    // What the stream still has of an erased person is on its way out.
    if (erased) for (const name of personalFields(aggregate_type, type)) delete json[name]
    return json
  } catch {
    return data
  }
}
