import type { FileRegistry } from '@bufbuild/protobuf'
import type { JetStreamClient, PubAck } from 'nats'
import type { EventRow } from '../eventstore/decide.ts'
import { encodeEvent, eventId } from './cloud-event.ts'

/** An event in the order of its commit. */
export interface StoredEvent extends Omit<EventRow, 'sequence'> {
  sequence: string
  position: string
  transaction_id: string
}

export interface PublishOptions {
  service: string
  /**
   * How often events had to be published anew. Within a generation the stream drops what it was given already; it would drop
   * what it has lost since, too.
   */
  generation?: number
  /** Where the messages of the events are looked up. Default: proto/. */
  messages?: FileRegistry
}

/** `roster.events.<service>.<organization>.<aggregate type>.<aggregate id>.<event type>` */
export function subjectOf(service: string, event: StoredEvent): string {
  return `roster.events.${service}.${event.organization_id}.${event.aggregate_type}.${event.aggregate_id}.${event.type}`
}

/**
 * Publishes events and gives, once the stream has stored them all, where. An event that the stream holds from an earlier try is
 * dropped there (Nats-Msg-Id). Each is sent once the stream has stored the one before it of its aggregate: were that one lost on
 * the way, this one would overtake it.
 */
export async function publish(
  stream: JetStreamClient,
  events: StoredEvent[],
  { service, generation = 0, messages }: PublishOptions,
): Promise<PubAck[]> {
  const encoded = events.map((event) => ({ event, ...encodeEvent(service, event, messages) }))
  const last = new Map<string, Promise<PubAck>>()
  const acks = encoded.map(({ event, headers, data }) => {
    const aggregate = `${event.aggregate_type}/${event.aggregate_id}`
    const msgID = eventId(service, event) + (generation > 0 ? `.${generation}` : '')
    const send = () => stream.publish(subjectOf(service, event), data, { headers, msgID })
    const ack = last.get(aggregate)?.then(send) ?? send()
    last.set(aggregate, ack)
    return ack
  })
  return Promise.all(acks)
}
