import type { ReplayDeliveryRequest, ReplayDeliveryResponse } from '#gen/roster/notifier/v1/delivery_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { DeliveryRow } from '../ledger/deliveries.ts'
import { requeue } from '../ledger/requeue.ts'
import { isVisible, visibleWebhook } from '../visible.ts'
import { deliveryNotFound, type Webhook, type WebhookEvent } from '../vocabulary.ts'

export async function replayDelivery(
  { sql, store, wake }: Context,
  { deliveryId }: ReplayDeliveryRequest,
  call: Call,
): Promise<ReplayDeliveryResponse> {
  const [row] = await orUnavailable(
    sql<Pick<DeliveryRow, 'organization_id' | 'webhook_id' | 'state'>[]>`
      select organization_id, webhook_id, state from deliveries where id = ${deliveryId}
    `,
  )
  if (!row || !isVisible(call, 'iam.webhook.write', row.organization_id)) throw deliveryNotFound()
  const { webhook_id: webhookId } = row
  if (webhookId === null || row.state === 'queued')
    throw new RosterError(
      'FAILED_PRECONDITION',
      'DELIVERY_NOT_REPLAYABLE',
      'Only a sent or failed delivery to a webhook can be replayed.',
    )
  const response = await store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call,
    decide(webhook: Aggregate<Webhook>): Decision<WebhookEvent> {
      visibleWebhook(webhook, call, 'iam.webhook.write')
      return {
        events: [{ type: 'replayed', payload: { deliveryId } }],
        writes: [requeue(webhookId, deliveryId)],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
  wake(webhookId)
  return response
}
