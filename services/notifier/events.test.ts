import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { OrganizationStatusEvent } from '../organization-status.ts'
import { organizationType } from './organizations.ts'
import type { WebhookEvent } from './vocabulary.ts'

const settings = { url: 'https://example.com/hook', eventTypes: ['roster.user.*'], description: 'CRM' }

const webhook: Payloads<WebhookEvent> = {
  added: { ...settings, allOrganizations: true },
  changed: settings,
  'secret.rotated': { formerExpiresAt: '2026-01-01T12:00:00.123Z' },
  deactivated: { cause: 'request' },
  reactivated: {},
  replayed: { deliveryId: 'd' },
  removed: {},
}

const organization: Payloads<OrganizationStatusEvent> = { noted: { state: 'removed', sequence: 2 } }

testPayloads('notifier', { webhook, [organizationType]: organization })
