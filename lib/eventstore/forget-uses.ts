import type { Sql } from './database.ts'

/** Deletes uses that are too old for any limit. */
export async function forgetUses(sql: Sql): Promise<void> {
  await sql`delete from uses where used_at < now() - interval '1 day'`
}
