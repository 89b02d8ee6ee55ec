import type { RemoveWebhookRequest, RemoveWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'

export async function removeWebhook(
  { store }: Context,
  { webhookId }: RemoveWebhookRequest,
  call: Call,
): Promise<RemoveWebhookResponse> {
  return store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call,
    decide(webhook: Aggregate<Webhook>): Decision<WebhookEvent> {
      visibleWebhook(webhook, call, 'iam.webhook.write')
      return { events: [{ type: 'removed', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
