/** What a form holds: the text of each field. That of a list has a line for each, and that of a check is `true` or empty. */
export type Values = Record<string, string>

/** The texts of a list, without empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

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
