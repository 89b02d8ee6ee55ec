/**
 * Works on all that `find` returns, a portion after the other. `find` returns rows behind an id, in the order of their
 * ids; without one, it is done. One that fails does not keep the others from being worked on: its error is thrown at
 * the end. Returns early where stopped.
 */
export async function inPortions<Row extends { id: string }>(
  find: (after: string) => PromiseLike<Row[]>,
  work: (row: Row) => Promise<unknown>,
  stopped: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  for (let after = ''; !stopped.aborted;) {
    const rows = await find(after)
    if (rows.length === 0) break
    const outcomes = await Promise.allSettled(rows.map(work))
    failures.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])))
    after = rows.at(-1)!.id
  }
  if (failures.length > 0) throw failures[0]
}

/** Rows of a portion: as many as share a transaction of the store. */
export const portionSize = 64
