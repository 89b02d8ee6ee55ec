/** What a form holds: the text of each field. */
export type Values = Record<string, string>

/** A field that another user changed since the form was opened. */
export interface Conflict {
  name: string
  opened: string
  theirs: string
  yours: string
}

/** The fields that differ from what was opened. */
export function changedOf<V extends Values>(opened: V, edited: Partial<V>): Partial<V> {
  const entries = Object.entries(edited).filter(([name, value]) => value !== undefined && value !== opened[name])
  return Object.fromEntries(entries) as Partial<V>
}

/**
 * Compares what was opened, what somebody else has saved since, and what the person wants. What they alone changed is
 * adopted. Where both changed a field to the same, there is nothing to choose.
 */
export function merge<V extends Values>(opened: V, theirs: V, edited: Partial<V>) {
  const mine = changedOf(opened, edited)
  const changedThere = Object.keys(opened).filter((name) => theirs[name] !== opened[name])
  const conflicts: Conflict[] = changedThere
    .filter((name) => mine[name] !== undefined && mine[name] !== theirs[name])
    .map((name) => ({ name, opened: opened[name]!, theirs: theirs[name]!, yours: mine[name]! }))
  return { conflicts, adopted: changedThere.filter((name) => mine[name] === undefined), mine: changedOf(theirs, mine) }
}
