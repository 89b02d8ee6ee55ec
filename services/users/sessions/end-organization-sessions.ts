import type { Event } from '#gen/roster/feed/v1/feed'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { startFollowing } from '#lib/subscriptions/follow'
import type { Context } from '../context.ts'
import { sessionSinceOpen } from '../directory/organizations/in-open-organization.ts'
import { statuses } from '../directory/organizations/statuses.ts'
import { withoutTokens } from '../directory/tokens/without-tokens.ts'

/**
 * Follows deactivations of organizations. A follower of its own, so that one with many users does not hold up the status of
 * another organization.
 */
export function startEndingOrganizationSessions(context: Context, nats: Nats, log: Log): Service {
  return startFollowing({
    feed: context.grants.listEvents,
    sql: context.sql,
    nats,
    log,
    name: 'organization-sessions',
    service: 'grants',
    eventTypes: ['organization.deactivated'],
    handle: (event, stopped) => endSessionsOfOrganization(context, event, stopped),
  })
}

/** Users of a portion. */
const portion = 200

/**
 * Takes away the tokens of sessions that a deactivation of their organization has ended. Every door refuses them before
 * that, also where the organization is open again; what comes after this is the word to the applications, which are told
 * of each session's end. Bounded work, a portion after the other; returns early where stopped.
 */
export async function endSessionsOfOrganization(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  event: Event,
  stopped: AbortSignal,
): Promise<void> {
  // What begins after it, while the organization is open, stays.
  await statuses.record(store, event)
  for (let after = ''; !stopped.aborted;) {
    const users = await sql<{ id: string }[]>`
      select id from aggregates
      where type = 'user' and organization_id = ${event.aggregateId} and id > ${after} order by id limit ${portion}
    `
    if (users.length === 0) return
    const ids = users.map(({ id }) => id)
    const ended = withoutTokens(
      (sql) => sql`
        user_id = any(${ids}::text[]) and session_id <> ''
        and not ${sessionSinceOpen(sql, sql`tokens.organization_id`, sql`tokens.session_id`)}
      `,
    )
    await sql.begin((transaction) => ended(transaction))
    after = ids.at(-1)!
  }
}
