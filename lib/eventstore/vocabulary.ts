import type { Aggregate } from './aggregate.ts'
import type { Write } from './database.ts'

/** What a service knows about its aggregates. */
export interface Vocabulary {
  /** The state after an event, by aggregate type. Pure; must take every event that was ever stored. */
  // State and events of one aggregate type are typed by its own function; the store gives back what that made.
  evolve: Record<string, (state: any, event: any, at: Date) => unknown>
  /** Brings the service's own tables to the state after a change, in its transaction. */
  project?: (change: { before: Aggregate<any>; after: Aggregate<any> }) => Write[]
}
