import type { EventRow } from '../events/stored-event.ts'
import type { Aggregate, AggregateKey } from './aggregate.ts'
import type { Command, Decision, NewEvent, UniqueKey } from './command.ts'
import type { EarlierAnswer, Once } from './once.ts'

// A batch has commands of every kind. The parts of each fit together where it is made, and no type can say so of a list of them.
export type AnyCommand = Command<any, any, any, any>

/** A command that waits for its outcome. */
export interface Pending {
  command: AnyCommand
  resolve: (response: unknown) => void
  reject: (error: unknown) => void
}

/** A command with what it came to. */
export interface Decided {
  pending: Pending
  /** The aggregate before and after. */
  before: Aggregate
  after: Aggregate
  /** Other aggregates that the decision stands on. */
  reads: Aggregate[]
  decision: Decision<NewEvent, unknown>
  events: EventRow[]
  /** What is stored with a keyed request. */
  stored?: { once: Once; answer: EarlierAnswer }
  /** Tells the caller; to be called once the batch is stored. */
  answer(): void
  /** Where one of the claims is among the taken keys, and nothing that it stands on has changed: tells the caller so and gives true. */
  refuse(problem: Pick<Problem, 'stale' | 'taken'>): boolean
}

/** Why a batch could not be stored: aggregates that changed since they were loaded, keys that others hold, and limits that it passes. */
export interface Problem {
  stale: AggregateKey[]
  taken: UniqueKey[]
  over: Over[]
}

/** What may be used so often only, and of which the batch wants more than is free; `wait`: seconds until the next will be. */
export interface Over {
  key: string
  free: number
  wait: number
}
