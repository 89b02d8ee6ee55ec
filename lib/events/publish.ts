import { type JetStreamClient, nanos, NatsError, RetentionPolicy, StorageType } from 'nats'
import type { EventRow } from '../eventstore/decide.ts'
import type { Nats } from '../nats.ts'

/** The stream that holds the events of every service, and the subjects that it takes. */
export const streamName = 'roster-events'
const subjects = ['roster.events.>']

/** An event in the order of its commit. */
export interface StoredEvent extends Omit<EventRow, 'sequence'> {
  sequence: string
  position: string
  transaction_id: string
}

/** Makes the stream where it is missing; one that is there stays as it is. */
export async function ensureStream({ connection }: Nats): Promise<void> {
  const manager = await connection.jetstreamManager({ checkAPI: false })
  try {
    await manager.streams.info(streamName)
  } catch (error) {
    if (!(error instanceof NatsError) || error.code !== '404') throw error
    await manager.streams.add({
      name: streamName,
      subjects,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      max_age: nanos(30 * 24 * 60 * 60 * 1000),
      duplicate_window: nanos(2 * 60 * 1000),
    })
  }
}

/** `roster.events.<service>.<organization>.<aggregate type>.<aggregate id>.<event type>` */
export function subjectOf(service: string, event: StoredEvent): string {
  return `roster.events.${service}.${event.organization_id}.${event.aggregate_type}.${event.aggregate_id}.${event.type}`
}

/**
 * Publishes events and gives once the stream has stored them all. An event that the stream holds from an earlier try is dropped
 * there (Nats-Msg-Id). Each is sent once the stream has stored the one before it of its aggregate: were that one lost on the way,
 * this one would overtake it.
 */
export async function publish(stream: JetStreamClient, service: string, events: StoredEvent[]): Promise<void> {
  const last = new Map<string, Promise<unknown>>()
  for (const event of events) {
    const aggregate = `${event.aggregate_type}/${event.aggregate_id}`
    const send = () =>
      stream.publish(subjectOf(service, event), encode(service, event), { msgID: `${service}-${event.position}` })
    const before = last.get(aggregate)
    last.set(aggregate, before ? before.then(send) : send())
  }
  await Promise.all(last.values())
}

/** What a consumer reads. */
export interface PublishedEvent {
  id: string
  type: string
  aggregateType: string
  aggregateId: string
  organizationId: string
  sequence: number
  creator: string
  requestId: string
  time: string
  payload: unknown
}

function encode(service: string, event: StoredEvent): string {
  const published: PublishedEvent = {
    id: `${service}-${event.position}`,
    type: event.type,
    aggregateType: event.aggregate_type,
    aggregateId: event.aggregate_id,
    organizationId: event.organization_id,
    sequence: Number(event.sequence),
    creator: event.creator,
    requestId: event.request_id,
    time: event.created_at.toISOString(),
    payload: event.payload,
  }
  return JSON.stringify(published)
}
