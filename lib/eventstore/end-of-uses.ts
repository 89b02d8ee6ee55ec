import { orUnavailable, type Sql } from '../database/database.ts'
import type { Use } from './command.ts'

/** A limit that refuses a further use until then. */
export interface ReachedLimit {
  until: Date
  most: number
  seconds: number
}

/** The limit of these uses that refuses longest, as `append` counts them. Undefined: none does. UNAVAILABLE. */
export async function reachedLimit(sql: Sql, uses: Pick<Use, 'key' | 'limits'>[]): Promise<ReachedLimit | undefined> {
  const counted = uses.map(({ key, limits }) => ({ key, limits }))
  const [row] = await orUnavailable(sql<ReachedLimit[]>`
    select last.used_at + make_interval(secs => l.seconds) as until, l.most, l.seconds
    from jsonb_to_recordset(${JSON.stringify(counted)}::text::jsonb) as u (key text, limits jsonb),
      jsonb_to_recordset(u.limits) as l (most int, seconds int),
      lateral (select used_at from uses where key = u.key order by used_at desc offset l.most - 1 limit 1) last
    where last.used_at + make_interval(secs => l.seconds) > roster_moment()
    order by until desc limit 1
  `)
  return row
}

/** Until when one of these uses would be refused. Undefined: none would be. UNAVAILABLE. */
export async function endOfUses(sql: Sql, uses: Pick<Use, 'key' | 'limits'>[]): Promise<Date | undefined> {
  return (await reachedLimit(sql, uses))?.until
}
