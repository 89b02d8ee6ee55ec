import { ErrorCode, type Msg, NatsError, type PubAck } from 'nats'
import type { Nats } from '../nats/connect-nats.ts'

/** The stream that holds the events of every service. */
export const streamName = 'roster-events'

/**
 * Runs a JetStream request with the prefix of its API. The accounts in deploy/nats/nats.conf allow requests under this
 * prefix. Without an answer, NATS runs without our accounts, so the standard prefix is used.
 */
export async function withApi<T>(ask: (apiPrefix: string) => Promise<T>): Promise<T> {
  try {
    return await ask('ROSTER.API')
  } catch (error) {
    if (error instanceof NatsError && error.code === '503') return ask('$JS.API')
    throw error
  }
}

/** The subject on which the keeper answers for the state of the stream. */
export const stateSubject = 'roster.stream.state'

/** Milliseconds to wait for the keeper, at each try. One that is just starting does not hear the first. */
const patience = [400, 600, 1000]

export interface StreamState {
  /** When the stream was created. Another stream of the same name has another time. */
  created: string
  /** Sequences of the oldest and the newest message. In an empty stream, `first` is one more than `last`. */
  first: number
  last: number
  /** Milliseconds after which the stream drops a message. Infinity where age does not count. */
  maxAge: number
  /** Whether the stream may drop younger messages, for lack of room. */
  bounded: boolean
  /** The last event of the service that was asked for; null where there is none. An older keeper does not say. */
  own?: LastMessage | null
}

export interface LastMessage {
  sequence: number
  /** Its `ce-id`. */
  id: string
}

/**
 * Asks the keeper for the state, and for the last message of a service. The stream exists once the keeper has answered.
 * Throws where the keeper or NATS does not answer.
 */
export async function streamState(nats: Nats, service = ''): Promise<StreamState> {
  const answer = await askKeeper(nats, service, patience)
  const { error, maxAge, ...state } = answer.json<Written>()
  if (error !== undefined) throw new Error(`the keeper of the stream: ${error}`)
  return { ...state, maxAge: maxAge ?? Infinity }
}

async function askKeeper(nats: Nats, service: string, [timeout, ...later]: number[]): Promise<Msg> {
  try {
    return await nats.ask(stateSubject, service, { timeout: timeout! }).answer
  } catch (error) {
    const isLate = error instanceof NatsError && error.code === ErrorCode.Timeout
    if (!isLate || later.length === 0) throw error
    return askKeeper(nats, service, later)
  }
}

type Written = Omit<StreamState, 'maxAge'> & { maxAge: number | null; error?: string }

/** The text that `streamState` reads. JSON writes Infinity as null. */
export function writeState(state: StreamState | Error): string {
  return JSON.stringify(state instanceof Error ? { error: state.message } : state)
}

/** The last event that a service published, and the stream that it went to. */
export interface Mark {
  created: string
  /** Its place in the stream; undefined before the first event. */
  sequence: number | undefined
  /** When the stream got it. */
  at: Date
  /** The place of the last message of its subject. Undefined where the stream was not asked for it. */
  found?: number | undefined
}

/**
 * Whether the stream still holds all published events, up to the mark and in `added`, except those past its maximum
 * age. False for a stream that was created anew, purged, or set back to an older copy. Wants a state that was asked for
 * after `mark.found`.
 */
export function isIntact(state: StreamState, mark: Mark, added: PubAck[] = []): boolean {
  if (state.created !== mark.created) return false
  const { sequence, found } = mark
  if (sequence !== undefined) {
    // Age and limits take the oldest messages first. So the mark is there, unless the first one is behind it. In a
    // stream that was set back, another service's message may have its place.
    if (found !== undefined && found < sequence && state.first <= sequence) return false
    if (state.last < sequence || added.some(({ seq, duplicate }) => !duplicate && seq <= sequence)) return false
    const mayBeGone = state.bounded || mark.at.getTime() + state.maxAge <= Date.now()
    if (!mayBeGone && state.first > sequence) return false
  }
  return state.bounded || added.every(({ seq }) => state.first <= seq)
}
