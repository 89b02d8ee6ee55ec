import { hash } from 'node:crypto'
import type { FileRegistry } from '@bufbuild/protobuf'
import type { PubAck } from 'nats'
import { encodeEvent } from '../events/cloud-event.ts'
import {
  isRefusal,
  type Message,
  NotStored,
  type Publisher,
  store,
  storeChain,
  storeUnlessThere,
} from './into-stream.ts'
import { eventId, type StoredEvent } from '../events/stored-event.ts'
import { subjectToken } from '../events/subject.ts'

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
export type Outcome = { ack: PubAck } | { refused: Error } | Failed

interface Failed {
  failed: unknown
}

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
 * Publishes events and returns their outcomes in the same order. An event that the stream already holds from an earlier
 * try is not stored again. The stream gets an event only behind the events before it of the same aggregate. Otherwise,
 * if one were lost on the way, the next would overtake it. An event that is refused for good holds up nothing.
 */
export async function publish(nats: Publisher, events: StoredEvent[], options: PublishOptions): Promise<Outcome[]> {
  const { service, floor = 0, taken = [], inDoubt = () => false } = options
  const places = new Map(taken.map(({ event, seq }) => [subjectOf(service, event), seq]))
  const sendings = events.map((event): Sending => ({ event, ...encode(event, options) }))

  // The stream takes the whole chain, or its beginning.
  async function sendTogether(chain: ToSend[]): Promise<void> {
    try {
      const acks = await storeChain(
        nats,
        chain.map(({ message }) => message),
      )
      for (const [index, ack] of acks.entries()) settle(chain[index]!, { ack })
    } catch (error) {
      const isAnswer = error instanceof NotStored || isRefusal(error)
      // The stream knows the ids of those that it has taken, and drops them.
      if (isAnswer) await sendEach(chain)
      else for (const sending of chain) sending.outcome = { failed: error }
    }
  }

  async function sendEach(some: ToSend[]): Promise<void> {
    const last = new Map<string, Promise<ToSend>>()
    await Promise.all(
      some.map((sending) => {
        const { aggregate_type, aggregate_id } = sending.event
        const aggregate = `${aggregate_type}/${aggregate_id}`
        const sent = send(sending, last.get(aggregate))
        last.set(aggregate, sent)
        return sent
      }),
    )
  }

  async function send(sending: ToSend, before: Promise<ToSend> | undefined): Promise<ToSend> {
    const { event, message } = sending
    const earlier = (await before)?.outcome
    if (earlier && 'failed' in earlier) sending.outcome = earlier
    else
      try {
        const known = places.get(message.subject)
        const ack = await (inDoubt(event) ? storeUnlessThere(nats, message, floor, known) : store(nats, message))
        settle(sending, { ack })
      } catch (error) {
        sending.outcome = isRefusal(error) ? { refused: error } : { failed: error }
      }
    return sending
  }

  function settle(sending: ToSend, outcome: { ack: PubAck }) {
    sending.outcome = outcome
    places.set(sending.message.subject, outcome.ack.seq)
  }

  const toSend = sendings.filter(isToSend)
  if (events.some(inDoubt)) await sendEach(toSend)
  else {
    let failure: Outcome | undefined
    for (const chain of chainsOf(toSend)) {
      if (failure) for (const sending of chain) sending.outcome = failure
      else await sendTogether(chain)
      failure ??= chain.find(({ outcome }) => 'failed' in outcome!)?.outcome
    }
  }
  return sendings.map(({ outcome }) => outcome!)
}

interface Sending {
  event: StoredEvent
  /** Missing if proto/ cannot describe the event. */
  message?: Message
  outcome?: Outcome
}

type ToSend = Sending & { message: Message }

const isToSend = (sending: Sending): sending is ToSend => sending.message !== undefined

function encode(event: StoredEvent, { service, key, generation = 0, messages }: PublishOptions) {
  try {
    const id = messageId(key, eventId(service, event), generation)
    return { message: { id, subject: subjectOf(service, event), ...encodeEvent(service, event, messages) } }
  } catch (error) {
    return { outcome: { refused: error instanceof Error ? error : new Error(String(error)) } }
  }
}

/** The id of a message in the stream. */
// The stream drops a message whose id it knows. Because of the secret key, no other service can take an id first. The
// cut-off hash (SHA-512/256) does not help anybody to compute the hash of a longer text.
export function messageId(key: string, id: string, generation: number): string {
  return hash('sha512-256', `${key} ${id} ${generation}`, 'base64url')
}

// After a failure, an event that may be in the stream is looked for by its subject. So no two events of a subject are
// under way at a time.
function chainsOf(sendings: ToSend[]): ToSend[][] {
  const chains: ToSend[][] = []
  const subjects = new Set<string>()
  for (const sending of sendings) {
    const { subject } = sending.message
    if (chains.length === 0 || subjects.has(subject)) {
      chains.push([])
      subjects.clear()
    }
    subjects.add(subject)
    chains.at(-1)!.push(sending)
  }
  return chains
}
