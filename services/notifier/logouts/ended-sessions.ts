import type { Event } from '#gen/roster/feed/v1/feed'
import type { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import type { Sql, Transaction } from '#lib/database/database'
import type { Client } from '#lib/rpc/call'

/** What users is asked for logouts. */
export type LogoutUsers = Client<typeof InternalServiceDefinition, 'listSessionApplications' | 'signLogoutToken'>

/** What this process asks, and for how long it waits. */
export const asking = { within: 10_000 }

/** The type of their events. */
export const ended = 'roster.session.ended.v1'
const portion = 50

/** The rows of the sessions that ended by these events of users. */
export function endedSessions(events: Event[]) {
  return events
    .filter(({ type }) => type === ended)
    .map(({ id, aggregateId, data }) => ({
      session_id: aggregateId,
      event_id: id,
      user_id: String(data?.['userId'] ?? ''),
    }))
}

/** Notes them, until users is asked. */
export async function noteEndedSessions(sql: Transaction, rows: ReturnType<typeof endedSessions>): Promise<void> {
  await sql`
    insert into ended_sessions select * from jsonb_populate_recordset(null::ended_sessions, ${JSON.stringify(rows)}::text::jsonb)
    on conflict do nothing
  `
}

/**
 * Queues a delivery to each application that is to be told of some ended sessions. Returns whether there may be more
 * sessions. Of several replicas one stores them.
 */
export async function queueLogouts(sql: Sql, users: LogoutUsers, requestId: string): Promise<boolean> {
  const sessions = await sql<{ id: string }[]>`select session_id as id from ended_sessions limit ${portion}`
  if (sessions.length === 0) return false
  const sessionIds = sessions.map(({ id }) => id)
  const call = { requestId, deadline: Date.now() + asking.within }
  const { applications } = await users.listSessionApplications({ sessionIds }, call)
  await sql`
    with gone as (
      delete from ended_sessions where session_id = any(${sessionIds}) returning *
    ), added as (
      insert into deliveries (
        id, kind, state, organization_id, event_id, event_type, user_id, aggregate, application_id,
        queued_at, created_at, changed_at
      )
      select event_id || '-' || a."applicationId", 'logout', 'queued', a."organizationId", event_id, ${ended}, user_id,
        'session/' || session_id, a."applicationId", roster_now(), roster_now(), roster_now()
      from gone join jsonb_to_recordset(${JSON.stringify(applications)}::text::jsonb)
        as a ("sessionId" text, "applicationId" text, "organizationId" text) on a."sessionId" = gone.session_id
      on conflict do nothing
      returning id, organization_id, application_id, substr(aggregate, 9) as session_id
    )
    insert into logouts (delivery_id, organization_id, application_id, session_id, due_at)
    select id, organization_id, application_id, session_id, roster_now() from added
  `
  return sessions.length === portion
}
