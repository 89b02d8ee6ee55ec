import { expect, vi } from 'vitest'
import type { Sql } from '#lib/database/database'

/**
 * Waits until every transaction has ended that runs in another database now. Feeds and outboxes read up to the oldest
 * transaction of the whole server, so that of another test would hide events that are committed.
 */
export async function untilForeignTransactionsEnd(sql: Sql): Promise<void> {
  const running = async () => {
    const rows = await sql<{ id: string }[]>`
      select l.transactionid::text as id from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'transactionid' and l.granted and a.datname is distinct from current_database()
    `
    return rows.map(({ id }) => id)
  }
  const before = await running()
  if (before.length === 0) return
  await vi.waitFor(async () => expect((await running()).filter((id) => before.includes(id))).toEqual([]), 10_000)
}
