import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import type { Webhook } from './vocabulary.ts'

/** The projections: brings the service's own tables up to date with a change. */
export function project({ after }: { after: Aggregate }): Write[] {
  return after.type === 'webhook' ? projectWebhook(after as Aggregate<Webhook>) : []
}

function projectWebhook({ id, organizationId, createdAt, state }: Aggregate<Webhook>): Write[] {
  if (!state || state.removed) return removal(id)
  const { allOrganizations, url, eventTypes, active } = state
  return [
    // After a pause, or with a new address, the webhook need not rest: its next try comes at once.
    (sql) => sql`
      insert into webhooks as w (webhook_id, organization_id, all_organizations, url, event_types, active, created_at)
      values (${id}, ${organizationId}, ${allOrganizations}, ${url}, ${eventTypes}, ${active}, ${createdAt})
      on conflict (webhook_id) do update
      set url = excluded.url, event_types = excluded.event_types, active = excluded.active,
        quick = w.quick and w.url = excluded.url,
        timeouts = case when w.url = excluded.url and w.active = excluded.active then w.timeouts else 0 end,
        retry_at = case when w.url = excluded.url and w.active = excluded.active then w.retry_at end
    `,
  ]
}

// The sweep ends the deliveries that wait for the webhook: there may be many.
function removal(webhookId: string): Write[] {
  return [
    (sql) => sql`delete from webhooks where webhook_id = ${webhookId}`,
    (sql) => sql`delete from webhook_secrets where webhook_id = ${webhookId}`,
  ]
}
