import { hash } from 'node:crypto'
import type { FileRegistry } from '@bufbuild/protobuf'
import { NatsError, type PubAck } from 'nats'
import { type Nats, natsHeaders } from '../nats.ts'
import { encodeEvent } from './cloud-event.ts'
import { eventId, type StoredEvent } from './stored-event.ts'
import { streamName } from './stream.ts'
import { subjectToken } from './subject.ts'

export interface PublishOptions {
  service: string
  /**
   * How often the service had to publish its events anew. The message ids depend on it. With the ids of the same
   * generation, the stream would drop also the events that it has lost since.
   */
  generation?: number
  /** A secret of the service, from which it makes its message ids. */
  key: string
  /** The registry of the event messages. Default: proto/. */
  messages?: FileRegistry | undefined
  /** None of these events is in the stream at or before this place. Default: the beginning of the stream. */
  floor?: number
  /** Places of earlier events of these aggregates in the stream. These events are not published now. */
  taken?: { event: StoredEvent; seq: number }[]
  /** Whether an earlier try may have stored the event, but too long ago for the stream to remember its id. */
  inDoubt?: (event: StoredEvent) => boolean
}

/** The outcome for an event: its place in the stream, why no retry will help, or why the outcome is unknown. */
export type Outcome = { ack: PubAck } | { refused: Error } | { failed: unknown }

/**
 * `roster.events.<service>.<organization>.<aggregate type>.<aggregate id>.<event type>`. `subjectToken` writes each
 * token.
 */
export function subjectOf(service: string, event: StoredEvent): string {
  const { organization_id, aggregate_type, aggregate_id, type } = event
  const tokens = [service, organization_id, aggregate_type, aggregate_id, ...type.split('.')].map(subjectToken)
  return `roster.events.${tokens.join('.')}`
}

/**
 * Publishes events and gives their outcomes in the same order. An event that the stream already holds from an earlier
 * try is not stored again. Within an aggregate, each event waits until the stream has stored the event before it.
 * Otherwise, if that one were lost on the way, the next would overtake it. An event that is refused for good holds up
 * nothing.
 */
export function publish(
  nats: Pick<Nats, 'ask'>,
  events: StoredEvent[],
  { service, generation = 0, key, messages, floor = 0, taken = [], inDoubt = () => false }: PublishOptions,
): Promise<Outcome[]> {
  const places = new Map(taken.map(({ event, seq }) => [subjectOf(service, event), seq]))
  const last = new Map<string, Promise<Outcome>>()

  async function send(event: StoredEvent): Promise<Outcome> {
    const encoded = orRefused(() => encodeEvent(service, event, messages))
    if ('refused' in encoded) return encoded
    const subject = subjectOf(service, event)
    const headers = { ...encoded.headers, 'Nats-Msg-Id': messageId(key, eventId(service, event), generation) }
    const message = { subject, data: encoded.data, headers }
    try {
      const ack = inDoubt(event)
        ? await sendUnlessThere(nats, message, floor, places.get(subject))
        : await store(nats, message)
      places.set(subject, ack.seq)
      return { ack }
    } catch (error) {
      return isRefusal(error) ? { refused: error } : { failed: error }
    }
  }

  const outcomes = events.map((event) => {
    const aggregate = `${event.aggregate_type}/${event.aggregate_id}`
    const before = last.get(aggregate)
    const outcome = before ? before.then((earlier) => ('failed' in earlier ? earlier : send(event))) : send(event)
    last.set(aggregate, outcome)
    return outcome
  })
  return Promise.all(outcomes)
}

// The stream drops a message whose id it knows. Because of the secret key, no other service can take an id first. The
// cut-off hash (SHA-512/256) does not help anybody to compute the hash of a longer text.
function messageId(key: string, id: string, generation: number): string {
  return hash('sha512-256', `${key} ${id} ${generation}`, 'base64url')
}

interface Message {
  subject: string
  data: string
  headers: Record<string, string>
}

/** Milliseconds to wait for the stream. */
const patience = 5000

// The error that JetStream answers when it does not take a message.
class NotStored extends Error {
  readonly code: number | undefined

  constructor({ err_code, description }: { err_code?: number; description?: string }) {
    super(`the stream did not take an event: ${description}`)
    this.code = err_code
  }
}

async function store({ ask }: Pick<Nats, 'ask'>, { subject, data, headers }: Message): Promise<PubAck> {
  const answer = await ask(subject, data, { timeout: patience, headers: natsHeaders(headers) }).answer
  const { error, stream, seq, duplicate = false } = answer.json<Partial<PubAck> & { error?: object }>()
  if (error) throw new NotStored(error)
  if (stream !== streamName || typeof seq !== 'number')
    throw new Error(`something else than the stream took ${subject}`)
  return { stream, seq, duplicate }
}

// The stream takes the message only where `expected` is the sequence of the last message of this subject. Else its
// error names the right sequence. One after both the floor and the known place is this event itself, stored by an
// earlier try.
async function sendUnlessThere(
  nats: Pick<Nats, 'ask'>,
  message: Message,
  floor: number,
  known: number | undefined,
): Promise<PubAck> {
  let expected = known ?? 0
  for (;;) {
    try {
      const headers = { ...message.headers, 'Nats-Expected-Last-Subject-Sequence': String(expected) }
      return await store(nats, { ...message, headers })
    } catch (error) {
      const found = lastOfSubject(error)
      if (found === undefined || found === expected) throw error
      if (found > (known ?? floor)) return { stream: streamName, seq: found, duplicate: true }
      expected = found
    }
  }
}

// JetStream's error numbers.
const wrongLastSequence = 10071
const refusals = [
  10054, // message size exceeds maximum allowed
  10097, // header size exceeds maximum allowed of 64k
]

function lastOfSubject(error: unknown): number | undefined {
  if (!(error instanceof NotStored) || error.code !== wrongLastSequence) return undefined
  const [, sequence] = /: (\d+)$/.exec(error.message) ?? []
  return sequence === undefined ? undefined : Number(sequence)
}

// Whether the broker refused the message itself, not because of the broker's own state. A second try would fail
// likewise.
function isRefusal(error: unknown): error is Error {
  if (error instanceof NotStored) return refusals.includes(error.code ?? 0)
  return error instanceof NatsError && error.code === 'MAX_PAYLOAD_EXCEEDED'
}

function orRefused<T>(work: () => T): T | { refused: Error } {
  try {
    return work()
  } catch (error) {
    return { refused: error instanceof Error ? error : new Error(String(error)) }
  }
}
