import type { RosterError } from '../errors.ts'
import type { Aggregate, AggregateKey, Read } from './aggregate.ts'
import type { ReadBy, Reads } from './reads.ts'
import type { Write } from '../database/database.ts'
import type { Once } from '../rpc/idempotency.ts'

/** Something that happened, before it is stored. The payload holds no secret. */
export interface NewEvent {
  type: string
  payload: object
}

/** A key that may exist only once. */
export interface UniqueKey {
  kind: string
  scope: string
  key: string
}

/** An action with a limit that all callers share. */
export interface Use {
  /**
   * The key to count by. Uses with the same key must always have the same limits. It is stored, so it must reveal
   * nothing.
   */
  key: string
  /** At most `most` uses within any `seconds`. The longest span is a day. */
  limits: { most: number; seconds: number }[]
  /** The caller's error once a limit is reached. `retryAfter` is in seconds. */
  exceeded: (retryAfter: number) => RosterError
}

/** A place in a set that has a largest size. */
export interface Guard {
  /** Names the set. Changes that add to it wait for each other. */
  key: string
  /** A function of the service's schema that counts the set, of which it gets this. It may stop counting at `most`. */
  counted: { by: string; of: object }
  most: number
  /** The caller's error where the set is full. */
  full: RosterError
}

/** The result of a decision. */
export interface Decision<Event extends NewEvent = NewEvent, Answer = void> {
  /** An empty list changes nothing. */
  events: Event[]
  /** The owner of the aggregate. Its first event needs it. */
  organizationId?: string
  /** Keys that the aggregate takes. The caller gets the error `taken` where somebody else holds the key. */
  claims?: (UniqueKey & { taken: RosterError })[]
  releases?: UniqueKey[]
  /** Uses to count in the transaction of the change. What is not stored, or has no event, does not count. */
  uses?: Use[]
  /** Places that the events take. They are counted in their transaction, so that no set has more than it may. */
  guards?: Guard[]
  /**
   * Data that no event may hold, such as the hash of a password. It is stored in the same transaction. Without events it
   * is stored only where the decision `commits`.
   */
  writes?: Write[]
  answer: Answer
  /** The events are stored first, and then the caller gets this error. */
  error?: RosterError
  /**
   * Commits without events, too: an empty transaction, where the response time would otherwise reveal whether there was
   * anything to store; or the `writes`. What these depend on is locked and compared as for a change.
   */
  commits?: true
}

/** The request that a command comes from. */
export interface Origin {
  /** The user to name as the creator of the events; empty for an anonymous caller. */
  caller: { userId: string }
  requestId: string
  /** Unix time in milliseconds. After it, the caller no longer waits for the outcome. */
  deadline: number
  /** The id of the event that made a service act by itself. */
  cause?: string | undefined
  /** The aggregate must have one of these sequences. "*" means any sequence, but the aggregate must exist. */
  ifMatch?: number[] | '*'
  /** The aggregate must have none of these sequences. "*" means that it must not exist. */
  ifNoneMatch?: number[] | '*'
  /** Set for a keyed request: it has one effect, however often it comes. */
  once?: Once
}

/**
 * A change of one aggregate. `decide` is pure, because it runs again when another change was faster. It throws
 * RosterError where the change is not allowed.
 */
export interface Command<
  State,
  Event extends NewEvent = NewEvent,
  Answer = void,
  Response = Outcome<State, Answer>,
  Keys extends Reads = Reads,
> {
  aggregate: AggregateKey
  /**
   * The command creates the aggregate under an id that the caller chose. An existing aggregate with that id may belong
   * to anybody, so If-Match treats the aggregate as missing.
   */
  creates?: true
  /** It decides also on an aggregate whose state is unreadable. Any other command fails then, and it alone. */
  evenUnreadable?: true
  /** Other aggregates that the decision depends on. They stay unchanged until it is stored. */
  reads?: Keys
  /**
   * Aggregates as the request has read them. The decision goes by these, and by the time of the last read, so that they
   * are not loaded twice. What has changed since is found when the decision is stored, and is loaded for the next try.
   */
  known?: readonly Read<Aggregate>[]
  /** If-Match is about this one of `reads`: callers know that one, and not the aggregate that changes. */
  matchesRead?: keyof Keys
  call: Origin
  decide(aggregate: Aggregate<State>, now: Date, reads: ReadBy<Keys>): Decision<Event, Answer>
  /**
   * Makes the answer to the caller, from the outcome alone, because a keyed request stores it. Default: the outcome.
   */
  respond?(outcome: Outcome<State, Answer>): Response
}

/** A decision that was stored, with the aggregate before and after it. Without an event, both are the same. */
export interface Outcome<State, Answer> {
  before: Aggregate<State>
  after: Aggregate<State>
  answer: Answer
}
