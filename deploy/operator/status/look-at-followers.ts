import type { ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import type { Attempts } from './attempts.ts'
import { type Backlog, backlogOf, eventsAfter, most } from './backlog.ts'

/** The followers of each service by their names, each with the service whose events it follows. */
export const followers: Record<StoringService, Record<string, StoringService>> = {
  users: { 'organization-states': 'grants', 'organization-removal': 'grants', forgetting: 'users' },
  grants: { 'user-removal': 'users', cascades: 'grants' },
  idp: { 'organization-removal': 'grants' },
  notifier: { 'organization-removal': 'grants' },
}

/** Days after which the notifier takes in no event that it has not seen. */
const history = 30

interface Place extends ChainPlace {
  name: string
}

/** What of each service's events the notifier has still to take in, for webhooks. */
export async function lookAtIntake(attempts: Attempts): Promise<Record<string, Backlog> | undefined> {
  const places = await attempts.inService(
    'notifier',
    (sql) => sql<Place[]>`
      select service as name, transaction_id::text as "transactionId", position::text from cursors
    `,
  )
  if (!places) return undefined
  const backlogs = storingServices.map(async (service) => {
    const place = places.find(({ name }) => name === service)
    const look = (sql: Sql) => (place ? eventsAfter(sql, place) : recentEvents(sql))
    return [service, await attempts.inService(service, look)] as const
  })
  return told(await Promise.all(backlogs))
}

/** How far the followers of each service are behind the events that they follow. */
export async function lookAtFollowers(
  attempts: Attempts,
): Promise<Partial<Record<StoringService, Record<string, Backlog>>>> {
  const places = await attempts.inEach(
    (sql) => sql<Place[]>`select name, transaction_id::text as "transactionId", position::text from followers`,
  )
  const all = Object.entries(places).map(async ([service, reached]) => {
    const own = Object.entries(followers[service as StoringService]).map(async ([name, source]) => {
      const place = reached.find((one) => one.name === name) ?? { transactionId: '0', position: '0' }
      return [name, await attempts.inService(source, (sql) => eventsAfter(sql, place))] as const
    })
    return [service, told(await Promise.all(own))] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

function told(backlogs: (readonly [string, Backlog | undefined])[]): Record<string, Backlog> {
  return Object.fromEntries(backlogs.filter((one): one is [string, Backlog] => one[1] !== undefined))
}

// The notifier has no place before it has found an event.
function recentEvents(sql: Sql): Promise<Backlog> {
  return backlogOf(
    sql,
    sql`
      select created_at from (
        select created_at from events order by events.transaction_id desc, events.position desc limit ${most}
      ) last
      where created_at >= roster_now() - make_interval(days => ${history})
    `,
  )
}
