import type { ListWebhooksRequest, ListWebhooksResponse } from '#gen/roster/notifier/v1/webhook_service'
import { orUnavailable } from '#lib/database/database'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { showWebhook } from '../show.ts'
import { permitInstance } from '../visible.ts'
import type { Webhook } from '../vocabulary.ts'

export const listWebhooks = {
  permit: permitInstance('iam.webhook.read'),

  async handle(
    { sql, store }: Context,
    { allOrganizations }: ListWebhooksRequest,
    { organizationId }: Call,
  ): Promise<ListWebhooksResponse> {
    const rows = await orUnavailable(sql<{ id: string }[]>`
      select webhook_id as id from webhooks where organization_id = ${allOrganizations ? instance.id : organizationId}
      order by created_at, webhook_id
    `)
    const webhooks = await Promise.all(rows.map(({ id }) => store.load<Webhook>('webhook', id)))
    // A webhook may have been removed between the two reads.
    return {
      webhooks: webhooks.flatMap((webhook) => (webhook && !webhook.state.removed ? [showWebhook(webhook)] : [])),
    }
  },
}
