import type { GetWebhookRequest, GetWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { showWebhook } from '../show.ts'
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
