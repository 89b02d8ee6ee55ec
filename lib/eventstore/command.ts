import type { RosterError } from '../errors.ts'
import type { Call } from '../rpc/headers.ts'
import type { Aggregate, AggregateKey } from './aggregate.ts'
import type { Write } from './database.ts'

/** Something that happened, before it is stored. The payload holds no secret. */
export interface NewEvent {
  type: string
  payload: object
}

/** Something that may exist once. */
export interface UniqueKey {
  kind: string
  scope: string
  key: string
}

/** What a decision comes to. */
export interface Decision<Event extends NewEvent = NewEvent, Answer = void> {
  /** None: nothing changes. */
  events: Event[]
  /** Needed with the first event of an aggregate: whom it belongs to. */
  organizationId?: string
  /** Keys that the aggregate takes; the error is the caller's where one is taken already. */
  claims?: (UniqueKey & { taken: RosterError })[]
  releases?: UniqueKey[]
  /** What no event may hold, such as a password's hash, stored in the same transaction. */
  writes?: Write[]
  answer: Answer
  /** The events are stored, and then the caller gets this error. */
  error?: RosterError
}

/**
 * A change of one aggregate. `decide` is pure: it may run again when somebody else was faster. It throws RosterError where the
 * change may not be.
 */
export interface Command<State, Event extends NewEvent = NewEvent, Answer = void, Response = Outcome<State, Answer>> {
  aggregate: AggregateKey
  /** Other aggregates that the decision stands on: they stay as they were until it is stored. */
  reads?: AggregateKey[]
  call: Pick<Call, 'caller' | 'requestId' | 'deadline' | 'cause' | 'ifMatch' | 'once'>
  decide(aggregate: Aggregate<State>, now: Date, reads: Aggregate<any>[]): Decision<Event, Answer>
  /** What the caller is answered, made of the outcome alone: it is stored with a keyed request. Without it, the outcome. */
  respond?(outcome: Outcome<State, Answer>): Response
}

/** A decision that was stored: the aggregate before and after it, which are the same where there was no event. */
export interface Outcome<State, Answer> {
  before: Aggregate<State>
  after: Aggregate<State>
  answer: Answer
}
