import type { AddWebhookRequest, AddWebhookResponse } from '#gen/roster/notifier/v1/webhook_service'
import { RosterError } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../context.ts'
import { notes } from '../organizations.ts'
import { refuseRemovedOrganization } from '../../organization-notes.ts'
import { permitInstance } from '../visible.ts'
import type { WebhookEvent } from '../vocabulary.ts'
import { newSecret } from '../webhooks/secret.ts'
import { checkSettings } from '../webhooks/settings.ts'

export const addWebhook = {
  permit: permitInstance('iam.webhook.write'),
  check: checkSettings,

  async handle(
    { store, sql, keys, mostWebhooks }: Context,
    request: AddWebhookRequest,
    call: Call,
  ): Promise<AddWebhookResponse> {
    const { url, eventTypes, description, allOrganizations } = request
    const organizationId = allOrganizations ? instance.id : call.organizationId
    const [others] = await orUnavailable(
      sql<[{ count: number }]>`select count(*)::int from webhooks where organization_id = ${organizationId}`,
    )
    if (others.count >= mostWebhooks)
      throw new RosterError('RESOURCE_EXHAUSTED', 'LIMIT_REACHED', `There are ${mostWebhooks} webhooks already.`, {
        metadata: { limit: 'organization.webhooks' },
      })
    const id = uuid()
    const { secret, store: storeSecret } = newSecret(keys, id)
    return store.execute({
      aggregate: { type: 'webhook', id },
      reads: [notes.key(organizationId)],
      call,
      decide(_webhook, _now, [note]): Decision<WebhookEvent> {
        refuseRemovedOrganization(note!)
        return {
          organizationId,
          events: [{ type: 'added', payload: { url, eventTypes, description, allOrganizations } }],
          writes: [storeSecret],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ webhookId: after.id, details: details(after), secret }),
    })
  },
}
