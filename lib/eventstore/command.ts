import type { RosterError } from '../errors.ts'
import type { Aggregate, AggregateKey } from './aggregate.ts'
import type { Write } from './database.ts'
import type { Once } from './once.ts'

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

/** Something that may be done so often only, by whomever. */
export interface Use {
  /** What it is counted by; its limits are always the same. It is stored, so it must tell nothing. */
  key: string
  /** At most so many within any so many seconds, a day at most. */
  limits: { most: number; seconds: number }[]
  /** The caller's error where it was done as often already; `retryAfter` in seconds. */
  exceeded: (retryAfter: number) => RosterError
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
  /** What is counted with the change, in its transaction: a change that is not stored does not count. */
  uses?: Use[]
  /** What no event may hold, such as a password's hash, stored in the same transaction. */
  writes?: Write[]
  answer: Answer
  /** The events are stored, and then the caller gets this error. */
  error?: RosterError
  /** There is a commit also where nothing is stored: how long it takes tells nobody whether there was something to store. */
  commits?: true
}

/** What a command says of the request that it comes from. */
export interface Origin {
  /** Whom its events name as their creator; empty for nobody. */
  caller: { userId: string }
  requestId: string
  /** Unix time in milliseconds; later, nobody waits for the outcome. */
  deadline: number
  /** The id of the event because of which a service acts by itself. */
  cause?: string | undefined
  /** The sequence that the aggregate must have; "*": any, but it must be there. */
  ifMatch?: number | '*'
  /** That it is to have one effect, however often it comes. */
  once?: Once
}

/**
 * A change of one aggregate. `decide` is pure: it may run again when somebody else was faster. It throws RosterError where the
 * change may not be.
 */
export interface Command<State, Event extends NewEvent = NewEvent, Answer = void, Response = Outcome<State, Answer>> {
  aggregate: AggregateKey
  /** It is to be made, under an id that the caller chose: what has that id already may be anybody's, so that If-Match finds nothing. */
  creates?: true
  /** Other aggregates that the decision stands on: they stay as they were until it is stored. */
  reads?: AggregateKey[]
  call: Origin
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
