import type { Sql } from './database.ts'

/** Forgets what was used so long ago that no limit looks at it any more. */
export async function forgetUses(sql: Sql): Promise<void> {
  await sql`delete from uses where used_at < now() - interval '1 day'`
}
