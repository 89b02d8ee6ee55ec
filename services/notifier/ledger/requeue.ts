import type { Write } from '#lib/database/database'

/** Makes everything due that waits for its next try to a webhook. */
export function retryNow(webhookId: string): Write {
  return (sql) => sql`update chains set due_at = roster_now() where webhook_id = ${webhookId} and taken_by = ''`
}

/** Does the same also for tries under way: the answers of the former address no longer count. */
export function retryElsewhere(webhookId: string): Write {
  return (sql) => sql`update chains set due_at = roster_now(), taken_by = '' where webhook_id = ${webhookId}`
}

/** Queues one delivery to a webhook again, sent or failed; or without an id all that failed. Makes them due. */
export function requeue(webhookId: string, deliveryId?: string): Write {
  const isOne = deliveryId !== undefined
  return (sql) => sql`
    with queued as (
      update deliveries set state = 'queued', attempts = 0, error = '', queued_at = roster_now(), changed_at = roster_now()
      where webhook_id = ${webhookId} and kind = 'webhook'
        and ${isOne ? sql`state in ('sent', 'failed') and id = ${deliveryId}` : sql`state = 'failed'`}
      returning aggregate
    ), rested as (
      update webhooks set retry_at = null where webhook_id = ${webhookId} and retry_at is not null
    )
    insert into chains (webhook_id, aggregate, due_at)
    select distinct ${webhookId}, aggregate, roster_now() from queued
    on conflict (webhook_id, aggregate) do update
    set added = chains.added + 1, due_at = case when chains.taken_by = '' then roster_now() else chains.due_at end
  `
}
