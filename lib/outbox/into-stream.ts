import { type MsgHdrs, NatsError, type PubAck } from 'nats'
import type { Nats } from '../nats/connect-nats.ts'
import { streamName } from '../events/stream.ts'

/** A connection that publishes. */
export type Publisher = Pick<Nats, 'ask'> & { connection: Pick<Nats['connection'], 'publish'> }

/** A message for the stream. No other message of the stream has its id. */
export interface Message {
  id: string
  subject: string
  /** The lines of its headers. */
  head: string
  data: string
}

/** Milliseconds to wait for the stream. */
const patience = 5000

/** The error that JetStream answers when it does not take a message. */
export class NotStored extends Error {
  readonly code: number | undefined

  constructor({ err_code, description }: { err_code?: number; description?: string }) {
    super(`the stream did not take an event: ${description}`)
    this.code = err_code
  }
}

/**
 * Stores messages one directly behind the other, with one acknowledgement. The stream takes a message only if the one
 * before it is the stream's last. So if one is lost or refused, or another service publishes meanwhile, the stream
 * holds the messages before the gap and no other. Throws then.
 */
export async function storeChain(nats: Publisher, messages: Message[]): Promise<PubAck[]> {
  const chained = messages.map((message, index) => {
    const before = messages[index - 1]
    return before ? { ...message, head: `${message.head}Nats-Expected-Last-Msg-Id: ${before.id}\r\n` } : message
  })
  for (const message of chained.slice(0, -1))
    nats.connection.publish(message.subject, message.data, { headers: headersOf(message) })
  const { stream, seq, duplicate } = await store(nats, chained.at(-1)!)
  if (duplicate && messages.length > 1) throw new NotStored({ description: 'it has the event from an earlier try' })
  return messages.map((_, index) => ({ stream, seq: seq - messages.length + 1 + index, duplicate }))
}

/**
 * Stores a message, unless an earlier try has stored it already. `known` is the place of the last message of this
 * subject before it. Where that is unknown, the message is not at `floor` or before.
 */
export async function storeUnlessThere(
  nats: Publisher,
  message: Message,
  floor: number,
  known: number | undefined,
): Promise<PubAck> {
  // The stream takes the message only where `expected` is the sequence of the last message of this subject. Else its
  // error names the right sequence. One after both the floor and the known place is this event itself, stored by an
  // earlier try.
  let expected = known ?? 0
  for (;;) {
    try {
      const head = `${message.head}Nats-Expected-Last-Subject-Sequence: ${expected}\r\n`
      return await store(nats, { ...message, head })
    } catch (error) {
      const found = lastOfSubject(error)
      if (found === undefined || found === expected) throw error
      if (found > (known ?? floor)) return { stream: streamName, seq: found, duplicate: true }
      expected = found
    }
  }
}

export async function store({ ask }: Publisher, message: Message): Promise<PubAck> {
  const { subject, data } = message
  const answer = await ask(subject, data, { timeout: patience, headers: headersOf(message) }).answer
  const { error, stream, seq, duplicate = false } = answer.json<Partial<PubAck> & { error?: object }>()
  if (error) throw new NotStored(error)
  if (stream !== streamName || typeof seq !== 'number')
    throw new Error(`something else than the stream took ${subject}`)
  return { stream, seq, duplicate }
}

/**
 * The place of the last message of a subject in the stream; 0 where there is none. Stores nothing. Needs no right but
 * that to publish there.
 */
// The stream refuses a message that expects another place, and names the right one. No place is as high as this.
export async function lastPlace({ ask }: Pick<Publisher, 'ask'>, subject: string): Promise<number> {
  const headers = written(`Nats-Expected-Last-Subject-Sequence: ${Number.MAX_SAFE_INTEGER}\r\n`)
  const answer = await ask(subject, '', { timeout: patience, headers }).answer
  const { error } = answer.json<{ error?: object }>()
  const refusal = error ? new NotStored(error) : new Error(`${subject} was taken, though nothing was to be stored`)
  const found = lastOfSubject(refusal)
  if (found === undefined) throw refusal
  return found
}

const headersOf = ({ id, head }: Message) => written(`Nats-Msg-Id: ${id}\r\n${head}`)

// The client wants headers only for their bytes. Its own class parses and joins them again and again.
function written(lines: string): MsgHdrs {
  const bytes = Buffer.from(`NATS/1.0\r\n${lines}\r\n`)
  return { encode: () => bytes } as unknown as MsgHdrs
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

/**
 * Whether the broker refused the message itself, not because of the broker's own state. A second try would fail
 * likewise.
 */
export function isRefusal(error: unknown): error is Error {
  if (error instanceof NotStored) return refusals.includes(error.code ?? 0)
  return error instanceof NatsError && error.code === 'MAX_PAYLOAD_EXCEEDED'
}
