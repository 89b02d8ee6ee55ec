import type { ReactivateWebhookRequest, ReactivateWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { retryNow } from '../ledger/requeue.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'

export async function reactivateWebhook(
  { store, wake }: Context,
  { webhookId }: ReactivateWebhookRequest,
  call: Call,
): Promise<ReactivateWebhookResponse> {
  const response = await store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call,
    decide(webhook: Aggregate<Webhook>): Decision<WebhookEvent> {
      const { active } = visibleWebhook(webhook, call, 'iam.webhook.write')
      if (active) return { events: [], answer: undefined }
      return { events: [{ type: 'reactivated', payload: {} }], writes: [retryNow(webhookId)], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
  wake(webhookId)
  return response
}
