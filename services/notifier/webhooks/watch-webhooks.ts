import type { Sql } from '#lib/database/database'
import { lookOften } from '#lib/telemetry/look-often'
import { webhooksDue, webhooksDueAge } from '../measures.ts'

/** Chains that are counted, at most: the count must stay cheap where many wait. */
const mostCounted = 10_000

/** Measures what is due to webhooks. */
export function watchWebhooks(sql: Sql): { stop(): void } {
  let due: number | undefined
  let since: Date | null = null
  const looking = lookOften(async () => {
    const [found] = await sql<[{ due: number; since: Date | null }]>`
      with due as materialized (
        select due_at from webhooks w cross join lateral (
          select due_at from chains c where c.webhook_id = w.webhook_id and due_at <= roster_now() order by due_at
          limit ${mostCounted + 1}
        ) c
        where active and (retry_at is null or retry_at <= roster_now()) limit ${mostCounted + 1}
      )
      select count(*)::int as due, min(due_at) as since from due
    `
    ;({ due, since } = found)
  })
  const unwatch = [
    webhooksDue.watch(() => due),
    webhooksDueAge.watch(() => due && (since ? Math.max(0, (Date.now() - since.getTime()) / 1000) : 0)),
  ]
  return {
    stop() {
      looking.stop()
      for (const end of unwatch) end()
    },
  }
}
