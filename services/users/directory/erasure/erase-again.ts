import { streamState } from '#lib/events/stream'
import { readNow, type Sql } from '#lib/database/database'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import type { ErasureOptions } from './erasure.ts'

const lookEvery = 5000
const portion = 1000

type Options = Pick<ErasureOptions, 'sql' | 'nats' | 'log'> & { every?: number }

/**
 * Has the stream cleaned of removed users again, once it was lost or set back to an older copy. Such a copy may have
 * their names and addresses. What the outbox publishes again has the events of these users without them. They share
 * the queue with users who were removed now.
 */
export function startErasureAgain({ every = lookEvery, sql, nats, log }: Options): Service {
  // A stream that was never lost has nothing again.
  let known = 0
  return repeat({
    async work(stopped) {
      const [{ generation }] = await sql<[{ generation: number }]>`select generation from published`
      if (generation === known) return
      const { maxAge } = await streamState(nats)
      const since = new Date(maxAge === Infinity ? 0 : (await readNow(sql)).getTime() - maxAge)
      for (let left = Infinity; left > 0 && !stopped.aborted;) {
        const { waiting, begun } = await beginAgain(sql, generation, since)
        left = begun
        if (waiting === 0) known = generation
      }
    },
    every,
    retryAfter: every,
    failed: throttled(log, 'the stream may have events of removed users again: it is cleaned later'),
  })
}

// Until the outbox has gone past the removal, it may publish earlier events of the user. Such a user waits.
async function beginAgain(sql: Sql, generation: number, since: Date): Promise<{ waiting: number; begun: number }> {
  const [counted] = await sql<[{ waiting: number; begun: number }]>`
    with waiting as materialized (
      select user_id, (
        select (e.transaction_id, e.position) <= (p.transaction_id, p.position) from events e, published p
        where e.aggregate_type = 'user' and e.aggregate_id = f.user_id order by e.sequence desc limit 1
      ) as "isPublished"
      from forgettings f
      where forget_at is null and removed_at > ${since} and stream_at is not null and stream_generation < ${generation}
      order by removed_at limit ${portion}
    ), begun as (
      update forgettings f set stream_at = null from waiting w where f.user_id = w.user_id and "isPublished"
      returning f.user_id
    )
    select (select count(*)::int from waiting) as waiting, (select count(*)::int from begun) as begun
  `
  return counted
}
