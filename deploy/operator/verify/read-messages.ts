import { type JetStreamManager, type NatsConnection, NatsError, type StoredMsg } from 'nats'
import { streamName } from '#lib/events/stream'
import { mostBytes } from '../reading/page-limits.ts'

/** Messages of the stream, one after the other. */
export interface MessagePage {
  messages: StoredMsg[]
  /** Messages that are there and cannot be read, and why. */
  unread: { seq: number; reason: string }[]
  /** The first message that is not in the page yet. */
  next: number
  /** The connection ended, so nothing else can be read by it. */
  isCut: boolean
}

/**
 * Bytes of answers that are under way, at most. The server ends a connection that leaves more than its `max_pending`
 * unread, which is 16 MB in nats.conf.
 */
const mostUnderWay = 12 * 1024 * 1024
const mostMessages = 200
/** Messages of a page that cannot be read. Whoever does not answer to so many does not answer. */
export const mostUnread = 10

/**
 * Reads some of the messages from `first` up to `last`. Nobody tells how large one is before it is there, only that it has
 * no more bytes than `largest`.
 */
export async function readMessages(
  nats: NatsConnection,
  manager: JetStreamManager,
  first: number,
  last: number,
  largest: number,
): Promise<MessagePage> {
  const read = new Map<number, StoredMsg>()
  const unread: MessagePage['unread'] = []
  let [next, bytes] = [first, 0]
  const isDone = () => next > Math.min(last, first + mostMessages - 1) || bytes >= mostBytes
  const readSome = async () => {
    while (!isDone() && !nats.isClosed() && unread.length < mostUnread) {
      const seq = next++
      try {
        const message = await manager.streams.getMessage(streamName, { seq })
        read.set(seq, message)
        bytes += sizeOf(message) ?? largest
      } catch (error) {
        if (!isGone(error)) unread.push({ seq, reason: reasonOf(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce(largest) }, readSome))
  const messages = [...read].toSorted(([one], [other]) => one - other).map(([, message]) => message)
  return { messages, unread: unread.toSorted((one, other) => one.seq - other.seq), next, isCut: nats.isClosed() }
}

// An answer has a message in base64.
function atOnce(largest: number): number {
  return Math.max(1, Math.floor(mostUnderWay / ((largest * 4) / 3)))
}

// Undefined for one whose headers are none.
function sizeOf(message: StoredMsg): number | undefined {
  try {
    const headers = [...(message.header as Iterable<[string, string[]]>)]
    return message.data.length + headers.flat(2).reduce((sum, text) => sum + text.length, 0)
  } catch {
    return undefined
  }
}

// It expired, or somebody removed it. An event that is missing is found from the database's side.
function isGone(error: unknown): boolean {
  return error instanceof NatsError && (error.code === '404' || error.api_error?.code === 404)
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: string }
  return String(message || code || error)
}
