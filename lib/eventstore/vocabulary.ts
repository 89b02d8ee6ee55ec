import type { Aggregate } from './aggregate.ts'
import type { Write } from './database.ts'

/** A service's knowledge of its aggregates. */
export interface Vocabulary {
  /** The state after an event, by aggregate type. Pure. It must accept every event that was ever stored. */
  // Each aggregate type's own function types its state and events. The store hands back the state that this function
  // made.
  // oxlint-disable-next-line typescript/no-explicit-any
  evolve: Record<string, (state: any, event: any, at: Date) => unknown>
  /** Updates the service's own tables after a change, in its transaction. */
  project?: (change: { before: Aggregate; after: Aggregate }) => Write[]
}
