import type { AddWebhookRequest, AddWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import { limitReached } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Write } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../context.ts'
import { tombstones } from '../organizations.ts'
import { refuseRemovedOrganization } from '../../organization-status.ts'
import { permitInstance } from '../visible.ts'
import type { WebhookEvent } from '../vocabulary.ts'
import { newSecret } from '../webhooks/secret.ts'
import { checkSettings } from '../webhooks/settings.ts'

export const addWebhook = {
  permit: permitInstance('iam.webhook.write'),
  check: checkSettings,

  async handle(
    { store, keys, mostWebhooks }: Context,
    request: AddWebhookRequest,
    call: Call,
  ): Promise<AddWebhookResponse> {
    const { url, eventTypes, description, allOrganizations } = request
    const organizationId = allOrganizations ? instance.id : call.organizationId
    const id = uuid()
    const { secret, store: storeSecret } = newSecret(keys, id)
    return store.execute({
      aggregate: { type: 'webhook', id },
      reads: { tombstone: tombstones.key(organizationId) },
      call,
      decide(_webhook, _now, { tombstone }): Decision<WebhookEvent> {
        refuseRemovedOrganization(tombstone)
        return {
          organizationId,
          events: [{ type: 'added', payload: { url, eventTypes, description, allOrganizations } }],
          writes: [storeSecret, keepLimit(organizationId, mostWebhooks)],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ webhookId: after.id, details: details(after), secret }),
    })
  },
}

// Fails the transaction where the organization has more webhooks than it may have. One transaction of an organization
// counts at a time, in every replica. The rows are on their way while it waits for the lock, so its own ones count.
function keepLimit(organizationId: string, most: number): Write {
  return async (sql) => {
    await sql`
      select pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'webhooks', ${organizationId}::text), 0))
    `
    const [all] = await sql<[{ count: number }]>`
      select count(*)::int from webhooks where organization_id = ${organizationId}
    `
    if (all.count > most) throw limitReached('organization.webhooks', most, `There are ${most} webhooks already.`)
  }
}
