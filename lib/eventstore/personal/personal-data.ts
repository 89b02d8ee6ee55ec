/** Data of people, each of whom has a key of its own. */
export interface PersonalData {
  /** The type of the aggregates that stand for a person. With the first event of one, its key is made. */
  subject: string
  /** Types of aggregates with a person's id whose events have personal fields, beside the subject's own. */
  events: string[]
  /** Those of them whose states are personal too. */
  states: string[]
  /** Kinds of unique keys that are names of people. */
  keyKinds: string[]
  /** Whether a person is to be forgotten after a change: whether the state of the subject has nothing personal left. */
  isForgotten(state: unknown): boolean
}
