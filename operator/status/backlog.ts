import type { Fragment, Sql } from '#lib/database/database'
import type { ChainPlace } from '#lib/audit-log/page'

/** What waits, counted to `most`, and the seconds since the oldest of it came. */
export interface Backlog {
  waiting: number
  seconds: number
}

/** More is not counted. */
export const most = 10_000

/** What waits: rows of a single column, the time since when. */
export async function backlogOf(sql: Sql, rows: Fragment): Promise<Backlog> {
  const [backlog] = await sql<[Backlog]>`
    select count(*)::int as waiting,
      greatest(0, coalesce(extract(epoch from roster_now() - min(since)), 0))::float8 as seconds
    from (${rows}) as waiting (since)
  `
  return backlog
}

export function eventsAfter(sql: Sql, { transactionId, position }: ChainPlace): Promise<Backlog> {
  return backlogOf(
    sql,
    sql`
      select created_at from events where (transaction_id, position) > (${transactionId}::xid8, ${position}::bigint)
      order by events.transaction_id, events.position limit ${most}
    `,
  )
}
