import type { UpdateWebhookRequest, UpdateWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../context.ts'
import { retryElsewhere } from '../ledger/requeue.ts'
import { visibleWebhook } from '../visible.ts'
import type { Webhook, WebhookEvent } from '../vocabulary.ts'
import { checkSettings } from '../webhooks/settings.ts'

export const updateWebhook = {
  check: checkSettings,

  async handle({ store, wake }: Context, request: UpdateWebhookRequest, call: Call): Promise<UpdateWebhookResponse> {
    const { webhookId, url, eventTypes, description } = request
    const settings = { url, eventTypes, description }
    const response = await store.execute({
      aggregate: { type: 'webhook', id: webhookId },
      call,
      decide(webhook: Aggregate<Webhook>): Decision<WebhookEvent> {
        const { url, eventTypes, description } = visibleWebhook(webhook, call, 'iam.webhook.write')
        if (isDeepStrictEqual(settings, { url, eventTypes, description })) return { events: [], answer: undefined }
        return {
          events: [{ type: 'changed', payload: settings }],
          // Deliveries that failed at the former address may succeed at this one.
          writes: url === settings.url ? [] : [retryElsewhere(webhookId)],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
    wake(webhookId)
    return response
  },
}
