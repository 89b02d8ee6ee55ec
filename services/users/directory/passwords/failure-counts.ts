import { BriefMap } from '#lib/brief-map'
import type { Sql } from '#lib/database/database'
import { encryptedAs } from '#lib/encryption/encrypted-text'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import type { Config } from '../../config.ts'
import type { FailureCause, FailureCounts } from '../../context.ts'

/** Milliseconds. */
const every = 5000
/** People and causes that wait. */
const most = 10_000

interface Waiting {
  userId: string
  cause: FailureCause
  count: number
}

/** Opens the counts of failed sign-ins. However fast somebody guesses, a person and a cause have one write in five seconds. */
export function openFailureCounts(
  sql: Sql,
  { SIGN_IN_RECORD_DAYS: days }: Pick<Config, 'SIGN_IN_RECORD_DAYS'>,
  log: Log,
): FailureCounts & Service {
  const waiting = new BriefMap<string, Waiting>()

  async function store() {
    for (const key of Array.from(waiting.keys())) {
      const counted = waiting.get(key)!
      waiting.delete(key)
      try {
        await add(sql, counted)
      } catch (err) {
        log.warn({ err }, 'failed sign-ins are not counted')
      }
    }
  }

  let storing = Promise.resolve()
  const timer = setInterval(() => (storing = storing.then(store)), every)
  timer.unref()
  return {
    note(userId, cause) {
      if (days === 0) return
      const key = `${cause} ${userId}`
      const known = waiting.get(key)
      if (known) known.count++
      else if (waiting.size < most) waiting.set(key, { userId, cause, count: 1 })
    },
    async stop() {
      clearInterval(timer)
      await storing.then(store)
    },
  }
}

// A removal beside it has locked the person, who is not encrypted any more after it: then there is nothing to count.
function add(sql: Sql, { userId, cause, count }: Waiting) {
  return sql`
    insert into sign_in_failures as f (user_id, hour, cause, count, organization_id)
    select id, date_trunc('hour', roster_now()), ${cause}, ${count}::integer, coalesce(organization_id, '') from aggregates
    where type = 'user' and id = ${userId} and state ? ${encryptedAs} for share
    on conflict (user_id, hour, cause) do update set count = f.count + excluded.count
  `
}
