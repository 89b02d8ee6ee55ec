import { type JetStreamManager, NatsError, type StoredMsg } from 'nats'
import { type PublishedEvent, readEvent } from '#lib/events/cloud-event'
import { streamName } from '#lib/events/stream'
import type { System } from './system.ts'

/** Messages of the stream in their order, and how many of how many were looked at. */
export interface StreamPage {
  messages: StoredMsg[]
  looked: number
  of: number
}

const pageSize = 200
/** Messages that are asked for at once. NATS ends a connection that leaves too many bytes unread. */
const atOnce = 8

/** Reads the whole stream. */
export async function* streamPages(system: Pick<System, 'jetstream'>): AsyncGenerator<StreamPage> {
  const manager = await system.jetstream()
  const { state } = await manager.streams.info(streamName)
  // A stream that never had a message says 0, which none has.
  const [first, last] = [Math.max(state.first_seq, 1), state.last_seq]
  for (let from = first; from <= last; from += pageSize) {
    const to = Math.min(last, from + pageSize - 1)
    yield { messages: await readMessages(manager, from, to), looked: to - first + 1, of: last - first + 1 }
  }
}

/** The event of a message. Undefined where it is none. */
export function eventIn(message: StoredMsg): PublishedEvent | undefined {
  try {
    return readEvent({ headers: message.header, json: () => message.json() })
  } catch {
    return undefined
  }
}

/** The messages of these places that are there. */
export async function readMessages(manager: JetStreamManager, from: number, to: number): Promise<StoredMsg[]> {
  const read: StoredMsg[] = []
  let next = from
  const readSome = async () => {
    while (next <= to) {
      const message = await readOne(manager, next++)
      if (message) read.push(message)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, readSome))
  return read.sort((one, other) => one.seq - other.seq)
}

// It expired, or somebody removed it. An event that is missing is found from the database's side.
async function readOne(manager: JetStreamManager, seq: number): Promise<StoredMsg | undefined> {
  try {
    return await manager.streams.getMessage(streamName, { seq })
  } catch (error) {
    if (error instanceof NatsError && (error.code === '404' || error.api_error?.code === 404)) return undefined
    throw error
  }
}
