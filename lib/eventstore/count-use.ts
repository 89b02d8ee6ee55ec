import { orUnavailable, type Sql } from '../database/database.ts'
import type { Use } from './command.ts'
import { endOfUses } from './end-of-uses.ts'

/**
 * Counts a use that belongs to no command, unless one of its limits is reached: then it returns the seconds after which
 * a further one is free. UNAVAILABLE.
 */
export async function countUse(sql: Sql, use: Pick<Use, 'key' | 'limits'>): Promise<number | undefined> {
  const until = await orUnavailable(
    sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(hashtextextended(${use.key}, 0))`
      const over = await endOfUses(transaction as unknown as Sql, [use])
      if (!over) await transaction`insert into uses (key, used_at) values (${use.key}, roster_moment())`
      return over
    }),
  )
  return until && Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1000))
}
