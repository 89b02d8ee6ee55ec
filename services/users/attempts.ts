import { createHash } from 'node:crypto'
import { orUnavailable, type Sql } from '#lib/eventstore/database'

/** How often something may be tried within a window. */
export interface Limit {
  key: string
  most: number
  /** Seconds. */
  window: number
}

interface Row {
  key: string
  attempts: number
  /** Seconds until the window is over. */
  wait: number
}

/** Counts an attempt under each limit. Gives the seconds to wait where one is exceeded, and else nothing. */
export async function countUnder(sql: Sql, limits: Limit[]): Promise<number | undefined> {
  const keys = limits.map(({ key }) => keyOf(key))
  const rows = await orUnavailable(sql<Row[]>`
    insert into sign_in_attempts as a (key, attempts, window_end)
    select decode(key, 'hex'), 1, now() + make_interval(secs => window_seconds)
    from unnest(${keys}::text[], ${limits.map(({ window }) => window)}::int[]) as l (key, window_seconds)
    order by key
    on conflict (key) do update set
      attempts = case when a.window_end > now() then a.attempts + 1 else 1 end,
      window_end = case when a.window_end > now() then a.window_end else excluded.window_end end
    returning encode(key, 'hex') as key, attempts, extract(epoch from window_end - now())::float8 as wait
  `)
  const over = rows.filter(({ key, attempts }) => attempts > limits[keys.indexOf(key)]!.most)
  return over.length > 0 ? Math.max(1, Math.ceil(Math.max(...over.map(({ wait }) => wait)))) : undefined
}

/** Forgets attempts whose window is over. */
export async function forgetAttempts(sql: Sql): Promise<void> {
  await sql`delete from sign_in_attempts where window_end < now()`
}

/** How a limit is named in the table, in hex: postgres.js takes an array of buffers for one buffer. */
function keyOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
