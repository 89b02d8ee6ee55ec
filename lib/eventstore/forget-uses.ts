import type { Sql } from './database.ts'
import { deleteInPortions } from './delete-in-portions.ts'

/** Deletes uses that are too old for any limit. */
export async function forgetUses(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'uses', sql`used_at < roster_now() - interval '1 day'`)
}
