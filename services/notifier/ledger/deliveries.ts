import { type Delivery, DeliveryKind, DeliveryState } from '#gen/roster/notifier/v1/delivery_service'
import type { Sql, Write } from '#lib/eventstore/database'

/** A row of `deliveries` as it is read. */
export interface DeliveryRow {
  position: string
  id: string
  kind: 'mail' | 'webhook'
  state: 'queued' | 'sent' | 'failed' | 'superseded'
  organization_id: string
  event_id: string
  event_type: string
  user_id: string
  webhook_id: string | null
  code_id: string | null
  attempts: number
  error: string
  created_at: Date
  changed_at: Date
  /** When its chain may go on; null where nothing is to be sent to a webhook. */
  due_at: Date | null
}

/** Reads rows, without what is sent; a condition follows. */
export function selectDeliveries(sql: Sql) {
  return sql`
    select position, id, kind, state, organization_id, event_id, event_type, user_id, webhook_id, code_id, attempts, error,
      created_at, changed_at, due_at
    from deliveries left join chains using (webhook_id, aggregate)
  `
}

/** A delivery as callers see it. */
export function showDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    kind: kinds[row.kind],
    state: states[row.state],
    organizationId: row.organization_id,
    eventId: row.event_id,
    eventType: row.event_type,
    userId: row.user_id,
    webhookId: row.webhook_id ?? '',
    codeId: row.code_id ?? '',
    attempts: row.attempts,
    error: row.error,
    nextAttemptDate: row.state === 'queued' ? (row.due_at ?? undefined) : undefined,
    creationDate: row.created_at,
    changeDate: row.changed_at,
  }
}

export const kinds = { mail: DeliveryKind.DELIVERY_KIND_MAIL, webhook: DeliveryKind.DELIVERY_KIND_WEBHOOK } as const

export const states = {
  queued: DeliveryState.DELIVERY_STATE_QUEUED,
  sent: DeliveryState.DELIVERY_STATE_SENT,
  failed: DeliveryState.DELIVERY_STATE_FAILED,
  superseded: DeliveryState.DELIVERY_STATE_SUPERSEDED,
} as const

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
