import { nanos, NatsError, type PubAck, RetentionPolicy, StorageType } from 'nats'
import type { Nats } from '../nats.ts'

/** The stream that holds the events of every service, and the subjects that it takes. */
export const streamName = 'roster-events'
const subjects = ['roster.events.>']

const nanosecondsPerMillisecond = 1_000_000

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

/** The stream as it is. */
export interface StreamState {
  /** When it was made: another stream of that name has another time. */
  created: string
  /** What it still holds lies between the two; without any message, `first` is one more than `last`. */
  first: number
  last: number
  /** Milliseconds after which it drops a message; Infinity where age does not count. */
  maxAge: number
  /** Whether it drops messages that are younger, for want of room. */
  bounded: boolean
}

/** Asks for the state. Throws where the stream, or NATS, is not there. */
export async function streamState({ connection }: Nats): Promise<StreamState> {
  const manager = await connection.jetstreamManager({ checkAPI: false })
  const { created, state, config } = await manager.streams.info(streamName)
  return {
    created,
    first: state.first_seq,
    last: state.last_seq,
    maxAge: config.max_age > 0 ? config.max_age / nanosecondsPerMillisecond : Infinity,
    bounded: [config.max_msgs, config.max_bytes, config.max_msgs_per_subject].some((limit) => limit > 0),
  }
}

/** The last event that a service put into the stream, and into which one. */
export interface Mark {
  created: string
  /** Its place in the stream; undefined before the first one. */
  sequence: number | undefined
  /** When it was put there. */
  at: Date
}

/**
 * Whether the stream still holds all that was put into it up to the mark and after it, but for what has come of age. A stream
 * that was made anew, purged, or set back to an older copy does not.
 */
export function isIntact(state: StreamState, mark: Mark, added: PubAck[] = []): boolean {
  if (state.created !== mark.created) return false
  const { sequence } = mark
  if (sequence !== undefined) {
    if (state.last < sequence || added.some(({ seq, duplicate }) => !duplicate && seq <= sequence)) return false
    const mayBeGone = state.bounded || mark.at.getTime() + state.maxAge <= Date.now()
    if (!mayBeGone && state.first > sequence) return false
  }
  return state.bounded || added.every(({ seq }) => state.first <= seq)
}
