/**
 * The events of the note that a user was removed. The note has the user's id, and each operation that gives a user
 * something reads it.
 */
export type RemovedUserEvent = { type: 'noted'; payload: {} }
