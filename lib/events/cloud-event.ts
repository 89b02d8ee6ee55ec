import { type FileRegistry, fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import type { JsMsg, MsgHdrs } from 'nats'
import { messageOf, namesOf } from './messages.ts'
import { personalFields, unpublishedFields } from './marked-fields.ts'
import { eventId, type StoredEvent } from './stored-event.ts'

/** An event as a consumer reads it. */
export interface PublishedEvent {
  /** Unique, and the same each time the event is delivered: `users-17`. */
  id: string
  /** `/roster/users` */
  source: string
  /** `roster.user.email.code.requested.v1` */
  type: string
  aggregateType: string
  aggregateId: string
  /** Number of the event within its aggregate: from 1, without a gap. */
  sequence: number
  organizationId: string
  /** The user who caused the event; empty without a signed-in user. */
  actor: string
  requestId: string
  /** The id of the event that made a service act by itself; else empty. */
  causationId: string
  /** W3C trace context of the work that made the event, where it is traced; else empty. */
  traceparent: string
  /** The reason, where the payload has one. */
  cause: string
  /** RFC 3339. */
  time: string
  /** The message that `dataschema` names, in JSON. */
  data: unknown
}

/**
 * An event as it is published. Its JSON shows also the default value of each field without presence, so that no
 * consumer needs proto/ to read it. Throws where the payload does not match proto/ exactly: a missing event is better
 * than a wrong one.
 */
export function describeEvent(
  service: string,
  event: StoredEvent,
  from?: FileRegistry,
): PublishedEvent & { dataSchema: string; data: JsonObject } {
  const { desc, type, dataschema } = messageOf(event.aggregate_type, event.type, from)
  const data = toJson(desc, fromJson(desc, event.payload as JsonValue), { alwaysEmitImplicit: true }) as JsonObject
  for (const name of unpublishedFields(event.aggregate_type, event.type)) delete data[name]
  if (event.erased) for (const name of personalFields(event.aggregate_type, event.type)) delete data[name]
  const cause = typeof data['cause'] === 'string' ? data['cause'] : ''
  return { ...describeEnvelope(service, event), type, cause, dataSchema: dataschema, data }
}

/** All published parts of an event except its data. The payload does not matter here. */
export function describeEnvelope(
  service: string,
  event: StoredEvent,
): Omit<PublishedEvent, 'data'> & { dataSchema: string } {
  const { type, name } = namesOf(event.aggregate_type, event.type)
  return {
    id: eventId(service, event),
    source: `/roster/${service}`,
    type,
    aggregateType: event.aggregate_type,
    aggregateId: event.aggregate_id,
    sequence: sequenceOf(event),
    organizationId: event.organization_id,
    actor: event.creator,
    requestId: event.request_id,
    causationId: event.cause ?? '',
    traceparent: event.traceparent ?? '',
    cause: '',
    time: timeOf(event),
    dataSchema: `proto:${name}`,
  }
}

/** The same event. A time or a sequence that no client can read is replaced: by 1970, or by 0. */
export function withReadablePlace(event: StoredEvent): StoredEvent {
  const keep = (read: (event: StoredEvent) => unknown) => {
    try {
      read(event)
      return true
    } catch {
      return false
    }
  }
  return {
    ...event,
    created_at: keep(timeOf) ? event.created_at : new Date(0),
    sequence: keep(sequenceOf) ? event.sequence : '0',
  }
}

// PostgreSQL knows times before our era, and an end of time. Clients know years of four digits.
function timeOf({ created_at }: StoredEvent): string {
  const moment = created_at.getTime()
  // The events of a transaction have one time.
  if (moment !== lastTime.moment) {
    const text = created_at.toISOString()
    if (!/^\d{4}-/.test(text) || text < '0001') throw new RangeError(`${text} is no time that a client can read`)
    lastTime = { moment, text }
  }
  return lastTime.text
}

let lastTime = { moment: NaN, text: '' }

function sequenceOf({ sequence }: StoredEvent): number {
  const number = Number(sequence)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${sequence} is no sequence that a client can read`)
  return number
}

/**
 * An event as CloudEvents 1.0 in binary mode: the lines of its headers, and its data. Throws like `describeEvent`.
 */
export function encodeEvent(service: string, event: StoredEvent, from?: FileRegistry): { head: string; data: string } {
  const described = describeEvent(service, event, from)
  const head =
    `ce-specversion: 1.0\r\nce-id: ${described.id}\r\nce-source: ${described.source}\r\n` +
    line('type', described.type) +
    line('subject', `${described.aggregateType}/${described.aggregateId}`) +
    `ce-time: ${described.time}\r\nce-datacontenttype: application/json\r\nce-dataschema: ${described.dataSchema}\r\n` +
    `ce-sequence: ${described.sequence}\r\n` +
    line('organization', described.organizationId) +
    line('actor', described.actor) +
    line('requestid', described.requestId) +
    line('causationid', described.causationId) +
    line('traceparent', described.traceparent) +
    line('cause', described.cause)
  return { head, data: JSON.stringify(described.data) }
}

/** The event that `encodeEvent` wrote; undefined for any other message. */
export function readEvent(message: Pick<JsMsg, 'headers' | 'json'>): PublishedEvent | undefined {
  const get = (name: string) => attribute(message.headers, name)
  if (get('specversion') !== '1.0') return undefined
  const [aggregateType = '', ...id] = get('subject').split('/')
  return {
    id: get('id'),
    source: get('source'),
    type: get('type'),
    aggregateType,
    aggregateId: id.join('/'),
    sequence: Number(get('sequence')),
    organizationId: get('organization'),
    actor: get('actor'),
    requestId: get('requestid'),
    causationId: get('causationid'),
    traceparent: get('traceparent'),
    cause: get('cause'),
    time: get('time'),
    data: message.json(),
  }
}

// An attribute may be missing, but not empty.
function line(name: string, value: string): string {
  return value && `ce-${name}: ${/[^\x21-\x7e]|["%]/.test(value) ? percentEncode(value) : value}\r\n`
}

// As the CloudEvents binding requires. Only printable ASCII stays, without space, quotation mark and percent sign.
function percentEncode(value: string): string {
  return value
    .toWellFormed()
    .replace(/[^\x21-\x7e]|["%]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    )
}

function attribute(all: MsgHdrs | undefined, name: string): string {
  return decodeURIComponent(all?.get(`ce-${name}`) ?? '')
}
