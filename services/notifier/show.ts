import { type Delivery, DeliveryKind, DeliveryState } from '#gen/roster/notifier/v1/delivery_service'
import { type Webhook as ShownWebhook, WebhookState } from '#gen/roster/notifier/v1/webhook_service'
import { details, type Existing, type Read } from '#lib/eventstore/aggregate'
import type { DeliveryRow } from './ledger/deliveries.ts'
import type { Webhook } from './vocabulary.ts'

export function showWebhook(webhook: Read<Existing<Webhook>>): ShownWebhook {
  const { url, eventTypes, description, allOrganizations, active, formerSecretExpiresAt } = webhook.state
  const former = formerSecretExpiresAt === undefined ? undefined : new Date(formerSecretExpiresAt)
  return {
    id: webhook.id,
    webhookId: webhook.id,
    details: details(webhook),
    state: active ? WebhookState.WEBHOOK_STATE_ACTIVE : WebhookState.WEBHOOK_STATE_INACTIVE,
    url,
    eventTypes,
    description,
    allOrganizations,
    formerSecretExpirationDate: former && former > webhook.readAt ? former : undefined,
  }
}

export function showDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    deliveryId: row.id,
    kind: kinds[row.kind],
    state: states[row.state],
    organizationId: row.organization_id,
    eventId: row.event_id,
    eventType: row.event_type,
    userId: row.user_id,
    webhookId: row.webhook_id ?? '',
    codeId: row.code_id ?? '',
    applicationId: row.application_id ?? '',
    appId: row.application_id ?? '',
    attempts: row.attempts,
    error: row.error,
    nextAttemptDate: row.state === 'queued' ? (row.due_at ?? undefined) : undefined,
    creationDate: row.created_at,
    changeDate: row.changed_at,
  }
}

export const kinds = {
  mail: DeliveryKind.DELIVERY_KIND_MAIL,
  webhook: DeliveryKind.DELIVERY_KIND_WEBHOOK,
  logout: DeliveryKind.DELIVERY_KIND_LOGOUT,
} as const

export const states = {
  queued: DeliveryState.DELIVERY_STATE_QUEUED,
  sent: DeliveryState.DELIVERY_STATE_SENT,
  failed: DeliveryState.DELIVERY_STATE_FAILED,
  superseded: DeliveryState.DELIVERY_STATE_SUPERSEDED,
} as const
