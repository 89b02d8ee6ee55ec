/**
 * The events of the tombstone of a removed user. The tombstone has the user's id, and each operation that gives a user
 * something reads it.
 */
export type RemovedUserEvent = { type: 'noted'; payload: {} }
