import { useMay, useRead } from '../api/queries.ts'
import type { Needs } from './need.ts'
import { words } from './words.ts'

const mostCounted = 100

/** Webhooks whose deliveries were given up. */
export function useFailedWebhooks(): Needs {
  const mayWebhooks = useMay('webhook.read')
  const mayDeliveries = useMay('delivery.read')
  const mayMend = useMay('webhook.write')
  const mayRead = mayWebhooks === undefined ? undefined : mayWebhooks && mayDeliveries === true
  const webhooks = useRead('roster.notifier.v1.WebhookService/ListWebhooks', {}, { enabled: mayRead === true })
  const failed = useRead(
    'roster.notifier.v1.DeliveryService/SearchDeliveries',
    { kind: 'DELIVERY_KIND_WEBHOOK', state: 'DELIVERY_STATE_FAILED', limit: mostCounted },
    { enabled: mayRead === true },
  )
  const counts = new Map<string, number>()
  for (const { webhookId = '' } of failed.data?.deliveries ?? [])
    counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
  const isMore = Boolean(failed.data?.nextCursor)
  const needs = (webhooks.data?.webhooks ?? []).flatMap(({ id = '', url = '', state }) => {
    const count = counts.get(id) ?? 0
    if (count === 0 || state !== 'WEBHOOK_STATE_ACTIVE') return []
    const text = words.webhook(hostOf(url), words.events(count, isMore))
    return [{ key: `webhook ${id}`, text, ...(mayMend && { webhookId: id }) }]
  })
  return { mayRead, needs: webhooks.data && failed.data && needs, error: webhooks.error ?? failed.error }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}
