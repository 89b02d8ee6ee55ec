import type { Sql } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import type { WebhookWorker } from './webhook-worker.ts'
import { tooLate } from '../mails/queue/mail-once.ts'

const pruneEvery = 60 * 60_000
const portion = 1000
const keptFor = 30
const unknownEnd = `${tooLate}, and what became of it is not known.`
/** Milliseconds after the end of a delivery's time, for a last try that is under way. */
const lastTryWithin = 60_000

export interface SweepOptions {
  sql: Sql
  worker: Pick<WebhookWorker, 'look'>
  log: Log
  /** Milliseconds. */
  every: number
  /** Milliseconds after which an unsent delivery is given up. */
  retryFor: number
}

/**
 * Names to the worker, again and again, the webhooks to which something is due, so that an emptied Redis loses nothing.
 * Tidies up.
 */
export function startWebhookSweep({ sql, worker, log, every, retryFor }: SweepOptions): Service {
  const failed = throttled(log, 'the sweep of deliveries failed and tries again')
  let pruneAt = 0
  return repeat({ work: look, every, retryAfter: every, failed })

  async function look(stopped: AbortSignal) {
    const due = await sql<{ id: string }[]>`
      select webhook_id as id from webhooks w
      where active and (retry_at is null or retry_at <= roster_now())
        and exists (select from chains c where c.webhook_id = w.webhook_id and due_at <= roster_now())
    `
    worker.look(due.map(({ id }) => id))
    await giveUp(stopped)
    if (Date.now() < pruneAt) return
    await prune(stopped)
    pruneAt = Date.now() + pruneEvery
  }

  // Gives up deliveries that will never be sent. Their webhook was removed, was paused for too long, or had too slow a
  // receiver for too long. Or they are mails of a code that died without an event.
  async function giveUp(stopped: AbortSignal) {
    await giveUpRemoved(stopped)
    await inPortions(
      stopped,
      () => sql`
        update deliveries d set state = 'failed', changed_at = roster_now(),
          error = case
            when error <> '' then error
            when exists (select from webhooks w where w.webhook_id = d.webhook_id and not active)
              then 'the webhook was paused'
            else 'not sent in time'
          end
        where state = 'queued' and position in (
          select position from deliveries
          where kind = 'webhook' and state = 'queued' and expires_at is null
            and queued_at < roster_now() - make_interval(secs => ${(retryFor + lastTryWithin) / 1000})
          order by queued_at limit ${portion}
        )
      `,
    )
    await inPortions(
      stopped,
      () => sql`
        update deliveries set state = 'superseded', changed_at = roster_now()
        where state = 'queued' and position in (
          select position from deliveries
          where kind = 'mail' and state = 'queued' and expires_at < roster_now() - interval '15 minutes'
          limit ${portion}
        )
      `,
    )
  }

  // Whatever number of deliveries waits in one chain, and however many chains there are.
  async function giveUpRemoved(stopped: AbortSignal) {
    const removed = await sql<{ id: string }[]>`
      select distinct webhook_id as id from chains c
      where not exists (select from webhooks w where w.webhook_id = c.webhook_id)
    `
    if (removed.length === 0) return
    const ids = removed.map(({ id }) => id)
    await inPortions(
      stopped,
      () => sql`
        update deliveries set state = 'failed', error = 'the webhook was removed', changed_at = roster_now()
        where state = 'queued' and position in (
          select position from deliveries
          where webhook_id = any(${ids}::text[]) and kind = 'webhook' and state = 'queued'
          limit ${portion}
        )
      `,
    )
    // Last: the chains show which webhooks are left to do.
    await deleteInPortions(sql, 'chains', sql`webhook_id = any(${ids}::text[])`, stopped)
  }

  async function prune(stopped: AbortSignal) {
    // Of a mail without events, whose notifier died before it could say what became of it.
    await inPortions(
      stopped,
      () => sql`
        update deliveries set state = 'failed', error = ${unknownEnd}, changed_at = roster_now()
        where position in (
          select position from deliveries
          where kind = 'mail' and state = 'queued' and expires_at < roster_now() - interval '1 day'
          limit ${portion}
        )
      `,
    )
    const old = sql`state <> 'queued' and changed_at < roster_now() - make_interval(days => ${keptFor})`
    await deleteInPortions(sql, 'deliveries', old, stopped)
    // Those of mails that were pruned, and those that are of no mail.
    const isOfNoMail = sql`not exists (select from deliveries d where d.kind = 'mail' and d.code_id = mail_bounces.code_id)`
    await deleteInPortions(
      sql,
      'mail_bounces',
      sql`bounced_at < roster_now() - interval '1 day' and ${isOfNoMail}`,
      stopped,
    )
    await deleteInPortions(sql, 'webhook_secrets', sql`expires_at < roster_now()`, stopped)
    await deleteInPortions(sql, 'turns', sql`turn_at < roster_now() - interval '1 day'`, stopped)
  }

  // A single statement could exceed the statement timeout, and then nothing would be done.
  async function inPortions(stopped: AbortSignal, work: () => Promise<{ count: number }>) {
    while (!stopped.aborted && (await work()).count === portion);
  }
}
