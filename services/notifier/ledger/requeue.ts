import type { Write } from '#lib/eventstore/database'

/** Lets everything that waits for its next try go on at once. */
export function retryNow(webhookId: string): Write {
  return (sql) => sql`update chains set due_at = now() where webhook_id = ${webhookId} and taken_by = ''`
}

/** The same, also for what is under way: what the former address answers counts no more. */
export function retryElsewhere(webhookId: string): Write {
  return (sql) => sql`update chains set due_at = now(), taken_by = '' where webhook_id = ${webhookId}`
}

/** Queues what a webhook was sent, or what failed there, once more: one delivery, or all that failed. It is tried at once. */
export function requeue(webhookId: string, deliveryId?: string): Write {
  return (sql) => sql`
    with queued as (
      update deliveries set state = 'queued', attempts = 0, error = '', queued_at = now(), changed_at = now()
      where webhook_id = ${webhookId} and kind = 'webhook'
        and ${deliveryId === undefined ? sql`state = 'failed'` : sql`state in ('sent', 'failed') and id = ${deliveryId}`}
      returning aggregate
    ), rested as (
      update webhooks set retry_at = null where webhook_id = ${webhookId} and retry_at is not null
    )
    insert into chains (webhook_id, aggregate, due_at)
    select distinct ${webhookId}, aggregate, now() from queued
    on conflict (webhook_id, aggregate) do update
    set added = chains.added + 1, due_at = case when chains.taken_by = '' then now() else chains.due_at end
  `
}
