import type { RotateWebhookSecretRequest, RotateWebhookSecretResponse } from '#gen/roster/notifier/v1/webhook_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'
import { newSecret, retireSecret } from '../webhooks/secret.ts'

const defaultOverlap = 24 * 60 * 60

export async function rotateWebhookSecret(
  { store, keys }: Context,
  { webhookId, overlapSeconds = defaultOverlap }: RotateWebhookSecretRequest,
  call: Call,
): Promise<RotateWebhookSecretResponse> {
  const { secret, store: storeSecret } = newSecret(keys, webhookId)
  return store.execute({
    aggregate: { type: 'webhook', id: webhookId },
    call,
    decide(webhook: Aggregate<Webhook>, now): Decision<WebhookEvent, Date> {
      visibleWebhook(webhook, call, 'iam.webhook.write')
      const until = new Date(now.getTime() + overlapSeconds * 1000)
      return {
        events: [{ type: 'secret.rotated', payload: { formerExpiresAt: until.toISOString() } }],
        writes: [retireSecret(webhookId, until), storeSecret],
        answer: until,
      }
    },
    respond: ({ after, answer }) => ({ details: details(after), secret, formerSecretExpirationDate: answer }),
  })
}
