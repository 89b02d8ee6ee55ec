import type { EventRow } from '../events/stored-event.ts'
import type { RosterError } from '../errors.ts'
import type { Aggregate, AggregateKey } from './aggregate.ts'
import type { Write } from '../database/database.ts'
import type { Command, Decision, NewEvent, UniqueKey } from './command.ts'
import type { EarlierAnswer, Once } from '../rpc/idempotency.ts'

// A batch has commands of every kind. The types of one command fit together where it is created. No type of a list can
// say so.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyCommand = Command<any, any, any, any, any>

/** A command that waits for its outcome. */
export interface Pending {
  command: AnyCommand
  /** Since when it waits, on the clock of `performance`. */
  since: number
  /** Its place in a trace, where it is traced: a W3C `traceparent`. */
  place?: string | undefined
  resolve: (response: unknown) => void
  reject: (error: unknown) => void
}

/** A command and its decision. */
export interface Decided {
  pending: Pending
  /** The aggregate before the decision. `after` is the aggregate after it. */
  before: Aggregate
  after: Aggregate
  /** Other aggregates that the decision depends on. */
  reads: Aggregate[]
  decision: Decision<NewEvent, unknown>
  events: EventRow[]
  /** What is written beside the events, or, where the decision `commits`, without any. */
  writes: Write[]
  /** The unique key for which the command was refused, because others are known to hold it. */
  held?: UniqueKey
  /** The answer to store for a keyed request. */
  stored?: { once: Once; answer: EarlierAnswer }
  /** Returns the outcome to the caller. Call it only once the batch is stored. */
  answer(): void
  /**
   * Refuses the command if one of its claims is a taken key and none of its aggregates changed. Then it answers the
   * caller and returns true.
   */
  refuse(lost: Lost): boolean
}

/** What a batch lost to others, as texts: of aggregates by `keyText`, and of unique keys by `claimText`. */
export interface Lost {
  stale: ReadonlySet<string>
  taken: ReadonlySet<string>
}

/**
 * Why a batch could not be stored: its aggregates changed since they were loaded, others hold its keys, it exceeds
 * limits, or it refused what is possible by now.
 */
export interface Problem {
  stale: AggregateKey[]
  taken: UniqueKey[]
  over: Over[]
  /** Keys for which the batch refused commands, and which are free by now. */
  freed: UniqueKey[]
}

/** A limited use of which the batch wants more than is free. `wait`: seconds until the next use is free. */
export interface Over {
  key: string
  free: number
  wait: number
}

/** What earlier attempts found out. */
export interface Known {
  /** Limits that are used up, by key. */
  over: Map<string, Over>
  /** Unique keys that others hold, by `claimText`. */
  taken: Set<string>
  /** An attempt failed, so what the requests had read before may be old. */
  isStale?: boolean
  /** Why no event may be stored that is new in this release. */
  newEvents?: RosterError
}

export const knowNothing = (): Known => ({ over: new Map(), taken: new Set() })

/** A text that two equal unique keys share. */
export function claimText({ kind, scope, key }: UniqueKey): string {
  return JSON.stringify([kind, scope, key])
}
