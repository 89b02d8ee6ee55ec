import type { Aggregate, Folds } from './aggregate.ts'
import type { UniqueKey } from './command.ts'
import type { Write } from '../database/database.ts'
import type { PersonalData } from '../encryption/personal.ts'

/** A service's knowledge of its aggregates. */
export interface Vocabulary {
  /** The state after an event, by aggregate type. Pure. It must accept every event that was ever stored. */
  // Each aggregate type's own function types its state and events. The store hands back the state that this function
  // made.
  // oxlint-disable-next-line typescript/no-explicit-any
  evolve: Record<string, (state: any, event: any, at: Date) => unknown>
  folds?: Folds
  /** Updates the service's own tables after a change, in its transaction. */
  project?: (change: { before: Aggregate; after: Aggregate }) => Write[]
  /** The tables that `project` writes and that can be made again from the aggregates alone. */
  projections?: Projection[]
  /** The unique keys that an aggregate holds, in the kinds of `keyKinds`. */
  keys?: (aggregate: Aggregate) => UniqueKey[]
  /** Kinds of unique keys, each with the type of the aggregates that hold them. */
  keyKinds?: Record<string, string>
  /** Kinds of unique keys that no aggregate holds, such as things that were used up. */
  keyKindsWithoutHolder?: readonly string[]
  /** What is stored encrypted, so that a person can be erased. */
  personal?: PersonalData
  /** Types whose aggregates are deleted after a time. Their events stay. */
  shortLived?: string[]
  /** Tables and columns that the operator's command may read beside those: no secret. */
  watched?: { table: string; columns?: string[] }[]
}

/** A projection (read model): a table whose rows each come from one aggregate. */
export interface Projection {
  table: string
  /** The type of the aggregates. */
  type: string
  /** The columns of the primary key. */
  key: string[]
  /** Condition in SQL that finds the aggregate `a` of a row `v`. Default: its id is the first column of the key. */
  of?: string
  /** Columns that something else than events changes. */
  without?: string[]
}
