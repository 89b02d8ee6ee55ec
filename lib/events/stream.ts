import { NatsError, type PubAck } from 'nats'
import type { Nats } from '../nats.ts'

/** The stream that holds the events of every service. */
export const streamName = 'roster-events'

/**
 * Runs what asks JetStream, with the prefix of its API: in deploy/nats/nats.conf the accounts know by this name what they may ask. Where
 * nobody answers to that, NATS has no accounts of ours.
 */
export async function withApi<T>(ask: (apiPrefix: string) => Promise<T>): Promise<T> {
  try {
    return await ask('ROSTER.API')
  } catch (error) {
    if (error instanceof NatsError && error.code === '503') return ask('$JS.API')
    throw error
  }
}

/** Where its keeper is asked for its state. */
export const stateSubject = 'roster.stream.state'

/** Milliseconds to wait for the keeper. */
const patience = 2000

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

/** Asks the keeper for the state; the stream is there then. Throws where the keeper, or NATS, is not there. */
export async function streamState({ ask }: Nats): Promise<StreamState> {
  const answer = await ask(stateSubject, '', { timeout: patience }).answer
  const { error, maxAge, ...state } = answer.json<Written>()
  if (error !== undefined) throw new Error(`the keeper of the stream: ${error}`)
  return { ...state, maxAge: maxAge ?? Infinity }
}

type Written = Omit<StreamState, 'maxAge'> & { maxAge: number | null; error?: string }

/** What `streamState` reads: JSON knows no Infinity, and takes it for null. */
export function writeState(state: StreamState | Error): string {
  return JSON.stringify(state instanceof Error ? { error: state.message } : state)
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
