import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { portionSize } from '#lib/database/in-portions'
import type { Service } from '#lib/process'
import type { Opened } from '#lib/storing-service'
import { organizationStatuses } from '../organization-status.ts'
import { startOrganizationRemoval } from '../organization-removal.ts'
import type { Feeds } from './feeds/read-events.ts'
import type { Webhook, WebhookEvent } from './vocabulary.ts'

/** The type of the tombstones of removed organizations. */
export const organizationType = 'webhook_organization'

/** The tombstones of removed organizations. */
export const tombstones = organizationStatuses(organizationType)

/** Removes the webhooks of removed organizations. */
export function startRemovingOrganizations(
  { sql, store, nats, log }: Pick<Opened<unknown>, 'sql' | 'store' | 'nats' | 'log'>,
  feed: Feeds[string],
): Service {
  return startOrganizationRemoval({
    find: (organizationId, after) => sql<{ id: string }[]>`
      select webhook_id as id from webhooks where organization_id = ${organizationId} and webhook_id > ${after}
      order by webhook_id limit ${portionSize}
    `,
    decide: removed,
    type: 'webhook',
    feed,
    statuses: tombstones,
    store,
    sql,
    nats,
    log,
  })
}

function removed({ state }: Aggregate<Webhook>): Decision<WebhookEvent> {
  const events: WebhookEvent[] = !state || state.removed ? [] : [{ type: 'removed', payload: {} }]
  return { events, answer: undefined }
}
