import type { Fragment } from 'postgres'
import type { Sql } from './database.ts'

const portion = 1000

/**
 * Deletes the rows of a table for which a condition holds, a thousand at a time, until none is left or it is stopped. A
 * single statement could exceed the statement timeout, such as after a long outage, and then nothing would ever be
 * deleted. And while it runs, the outboxes of all services wait.
 */
export async function deleteInPortions(
  sql: Sql,
  table: string,
  condition: Fragment,
  stopped?: AbortSignal,
): Promise<void> {
  for (;;) {
    if (stopped?.aborted) return
    // The condition stands twice: somebody may change a row after it was found.
    const deleted = await sql`
      delete from ${sql(table)}
      where ctid = any(array(select ctid from ${sql(table)} where ${condition} limit ${portion})) and ${condition}
    `
    if (deleted.count < portion) return
  }
}

/** Deletes uses that are too old for any limit. */
export async function deleteUses(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'uses', sql`used_at < roster_now() - interval '1 day'`)
}
