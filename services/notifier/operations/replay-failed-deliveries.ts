import type {
  ReplayFailedDeliveriesRequest,
  ReplayFailedDeliveriesResponse,
} from '#gen/roster/notifier/v1/delivery_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { requeue } from '../ledger/requeue.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'

export async function replayFailedDeliveries(
  { store, wake }: Context,
  { webhookId }: ReplayFailedDeliveriesRequest,
  call: Call,
): Promise<ReplayFailedDeliveriesResponse> {
  const response = await store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call,
    decide(webhook: Aggregate<Webhook>): Decision<WebhookEvent> {
      visibleWebhook(webhook, call, 'iam.webhook.write')
      return { events: [{ type: 'replayed', payload: {} }], writes: [requeue(webhookId)], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
  wake(webhookId)
  return response
}
