import {
  type GetWebhookRequest,
  type GetWebhookResponse,
  type Webhook as Shown,
  WebhookState,
} from '#gen/roster/notifier/v1/webhook_service'
import { details, type Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook } from '../vocabulary.ts'

export async function getWebhook(
  { store }: Context,
  { webhookId }: GetWebhookRequest,
  call: Call,
): Promise<GetWebhookResponse> {
  const webhook = await store.load<Webhook>('webhook', webhookId)
  visibleWebhook(webhook, call, 'iam.webhook.read')
  return { webhook: showWebhook(webhook!) }
}

/** A webhook as callers see it. */
export function showWebhook(webhook: Existing<Webhook>): Shown {
  const { url, eventTypes, description, allOrganizations, active, formerSecretExpiresAt } = webhook.state
  const former = formerSecretExpiresAt === undefined ? undefined : new Date(formerSecretExpiresAt)
  return {
    id: webhook.id,
    details: details(webhook),
    state: active ? WebhookState.WEBHOOK_STATE_ACTIVE : WebhookState.WEBHOOK_STATE_INACTIVE,
    url,
    eventTypes,
    description,
    allOrganizations,
    formerSecretExpirationDate: former && former.getTime() > Date.now() ? former : undefined,
  }
}
