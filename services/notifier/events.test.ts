import type * as messages from '#gen/roster/events/v1/notifier'
import { testEvents } from '#test/support/event-payloads'
import type { OrganizationStatusEvent } from '../organization-status.ts'
import { organizationType } from './organizations.ts'
import type { WebhookEvent } from './vocabulary.ts'

type Events = { webhook: WebhookEvent; [organizationType]: OrganizationStatusEvent }

testEvents<Events, typeof messages>('notifier', ['webhook', organizationType])
