import type { Sql } from '#lib/database/database'
import { lookOften } from '#lib/telemetry/look-often'
import { logoutsWaiting, logoutsWaitingAge } from '../measures.ts'

/** Logouts that are counted, at most: the count must stay cheap where many wait. */
const mostCounted = 10_000

/** Measures what applications are still to be told. */
export function watchLogouts(sql: Sql): { stop(): void } {
  let found: { waiting: number; since: Date | null } | undefined
  const looking = lookOften(async () => {
    ;[found] = await sql<[{ waiting: number; since: Date | null }]>`
      select count(*)::int as waiting, min(queued_at) as since
      from (select delivery_id from logouts limit ${mostCounted + 1}) l join deliveries d on d.id = l.delivery_id
    `
  })
  const unwatch = [
    logoutsWaiting.watch(() => found?.waiting),
    logoutsWaitingAge.watch(
      () => found && (found.since ? Math.max(0, (Date.now() - found.since.getTime()) / 1000) : 0),
    ),
  ]
  return {
    stop() {
      looking.stop()
      for (const end of unwatch) end()
    },
  }
}
