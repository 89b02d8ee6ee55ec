import { orUnavailable, type Sql } from '../database/database.ts'
import type { Use } from './command.ts'

/** Until when one of these uses would be refused, as `append` counts them. Undefined: none would be. UNAVAILABLE. */
export async function endOfUses(sql: Sql, uses: Pick<Use, 'key' | 'limits'>[]): Promise<Date | undefined> {
  const counted = uses.map(({ key, limits }) => ({ key, limits }))
  const [row] = await orUnavailable(sql<{ until: Date | null }[]>`
    select max(last.used_at + make_interval(secs => l.seconds)) as until
    from jsonb_to_recordset(${JSON.stringify(counted)}::text::jsonb) as u (key text, limits jsonb),
      jsonb_to_recordset(u.limits) as l (most int, seconds int),
      lateral (select used_at from uses where key = u.key order by used_at desc offset l.most - 1 limit 1) last
    where last.used_at + make_interval(secs => l.seconds) > roster_moment()
  `)
  return row?.until ?? undefined
}
