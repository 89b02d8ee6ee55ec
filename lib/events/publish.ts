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
   * How often events had to be published anew. Within a generation the stream drops what it was given already; it would drop
   * what it has lost since, too.
   */
  generation?: number
  /** Known to the service alone: what the ids of its messages are made with. */
  key: string
  /** Where the messages of the events are looked up. Default: proto/. */
  messages?: FileRegistry | undefined
  /** The last place in the stream at which nothing of these events can be. Default: its beginning. */
  floor?: number
  /** Where the stream put earlier events, of these aggregates, which are no part of what is published now. */
  taken?: { event: StoredEvent; seq: number }[]
  /** Whether an earlier try may have stored the event, so long ago that the stream does not know its id any more. */
  inDoubt?: (event: StoredEvent) => boolean
}

/** What became of an event: where the stream has it, why nobody will ever take it, or what kept it from being known. */
export type Outcome = { ack: PubAck } | { refused: Error } | { failed: unknown }

/** `roster.events.<service>.<organization>.<aggregate type>.<aggregate id>.<event type>`, each token as `subjectToken` writes it. */
export function subjectOf(service: string, event: StoredEvent): string {
  const { organization_id, aggregate_type, aggregate_id, type } = event
  const tokens = [service, organization_id, aggregate_type, aggregate_id, ...type.split('.')].map(subjectToken)
  return `roster.events.${tokens.join('.')}`
}

/**
 * Publishes events and gives, in their order, what became of each. An event that the stream holds from an earlier try is not stored
 * again. Each is sent once the stream has stored the one before it of its aggregate: were that one lost on the way, this one would
 * overtake it. One that is refused for good holds up nobody.
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

// The stream drops what comes under an id that it knows: with a key of its own, no service can take another's ids. A hash that is cut
// off tells nobody what comes of a longer text.
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

// What JetStream answers where it does not take a message.
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

// The stream takes it only where the last message of the subject is the one that is expected there, and says which one is. One
// behind the floor, and behind what is known of the subject, is the event itself: an earlier try stored it.
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

// JetStream's numbers of its errors.
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

// What the broker says of the message itself, and not of its own state: a second try would be answered the same.
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
