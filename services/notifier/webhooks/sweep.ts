import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '#lib/eventstore/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { throttled } from '../redis.ts'
import type { WebhookQueue } from './queue.ts'

const pruneEvery = 60 * 60_000
const pruneAtATime = 1000
const keptFor = 30

export interface SweepOptions {
  sql: Sql
  queue: WebhookQueue
  log: Log
  /** Milliseconds. */
  every: number
  /** Milliseconds after which what was not sent is given up. */
  retryFor: number
}

/** Looks again and again for what is due and makes a job for it, so that an emptied Redis loses nothing; and tidies up. */
export function startWebhookSweep({ sql, queue, log, every, retryFor }: SweepOptions): Service {
  const stopped = new AbortController()
  const failed = throttled(log, 'the sweep of deliveries failed and tries again')
  let pruneAt = 0

  async function run() {
    while (!stopped.signal.aborted) {
      await look().catch((error: Error) => stopped.signal.aborted || failed(error))
      await sleep(every, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  async function look() {
    const due = await sql<{ id: string }[]>`
      select webhook_id as id from webhooks w
      where active and exists (select from chains c where c.webhook_id = w.webhook_id and due_at <= now())
    `
    for (const { id } of due) queue.remind(id)
    await giveUp()
    if (Date.now() < pruneAt) return
    await prune()
    pruneAt = Date.now() + pruneEvery
  }

  // What nobody will send: to a webhook that is paused for too long, or was removed while an event for it was taken in; or of a
  // code that died without an event.
  async function giveUp() {
    await sql`
      update deliveries d set state = 'failed', error = 'the webhook was paused', changed_at = now()
      from webhooks w
      where not w.active and d.webhook_id = w.webhook_id and d.kind = 'webhook' and d.state = 'queued'
        and d.queued_at < now() - make_interval(secs => ${retryFor / 1000})
    `
    await sql`
      with orphans as (
        delete from chains c where not exists (select from webhooks w where w.webhook_id = c.webhook_id) returning *
      )
      update deliveries d set state = 'failed', error = 'the webhook was removed', changed_at = now()
      from orphans o
      where d.webhook_id = o.webhook_id and d.aggregate = o.aggregate and d.kind = 'webhook' and d.state = 'queued'
    `
    await sql`
      update deliveries set state = 'superseded', changed_at = now()
      where kind = 'mail' and state = 'queued' and expires_at < now() - interval '15 minutes'
    `
  }

  async function prune() {
    let pruned = 0
    do {
      const { count } = await sql`
        delete from deliveries where position in (
          select position from deliveries
          where state <> 'queued' and changed_at < now() - make_interval(days => ${keptFor})
          limit ${pruneAtATime}
        )
      `
      pruned = count
    } while (pruned === pruneAtATime && !stopped.signal.aborted)
    await sql`delete from webhook_secrets where expires_at < now()`
  }

  const finished = run()
  return {
    async stop() {
      stopped.abort()
      await finished
    },
  }
}
