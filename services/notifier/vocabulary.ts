import { RosterError } from '#lib/errors'

export type WebhookEvent =
  | { type: 'added'; payload: WebhookSettings & { allOrganizations: boolean } }
  | { type: 'changed'; payload: WebhookSettings }
  | { type: 'secret.rotated'; payload: { formerExpiresAt: string } }
  | { type: 'deactivated'; payload: { cause: 'request' | 'gone' } }
  | { type: 'reactivated'; payload: Record<string, never> }
  | { type: 'replayed'; payload: { deliveryId?: string } }
  | { type: 'removed'; payload: Record<string, never> }

export interface WebhookSettings {
  url: string
  /** Types, or beginnings of types with `*`. Empty: every type. */
  eventTypes: string[]
  description: string
}

export interface Webhook extends WebhookSettings {
  /** If so, the webhook belongs to the instance. */
  allOrganizations: boolean
  active: boolean
  removed: boolean
  /** RFC 3339. Missing before the first rotation. */
  formerSecretExpiresAt?: string
}

export function evolveWebhook(webhook: Webhook | undefined, event: WebhookEvent): Webhook {
  if (event.type === 'added') return { ...event.payload, active: true, removed: false }
  if (webhook === undefined) throw new Error(`the first event of a webhook is ${event.type}`)
  switch (event.type) {
    case 'changed':
      return { ...webhook, ...event.payload }
    case 'secret.rotated':
      return { ...webhook, formerSecretExpiresAt: event.payload.formerExpiresAt }
    case 'deactivated':
      return { ...webhook, active: false }
    case 'reactivated':
      return { ...webhook, active: true }
    case 'replayed':
      return webhook
    case 'removed':
      return { ...webhook, active: false, removed: true }
  }
}

/** The error for a webhook that does not exist or that the caller may not see. */
export function webhookNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'WEBHOOK_NOT_FOUND', 'There is no such webhook.')
}

/** The error for a delivery that does not exist or that the caller may not see. */
export function deliveryNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'DELIVERY_NOT_FOUND', 'There is no such delivery.')
}

export function mailNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'MAIL_NOT_FOUND', 'There is no such mail.')
}
