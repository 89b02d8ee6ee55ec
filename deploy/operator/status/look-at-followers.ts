import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import type { Attempts } from './attempts.ts'
import { most } from './look-at-tails.ts'

/** Events that somebody has still to follow, counted to `most`, and the seconds since the first of them was stored. */
export interface LagStatus {
  waiting: number
  seconds: number
}

/** The followers of each service by their names, each with the service whose events it follows. */
export const followers: Record<StoringService, Record<string, StoringService>> = {
  users: { 'organization-states': 'grants', 'organization-removal': 'grants', forgetting: 'users' },
  grants: { 'user-removal': 'users', cascades: 'grants' },
  idp: { 'organization-removal': 'grants' },
  notifier: { 'organization-removal': 'grants' },
}

/** Days after which the notifier takes in no event that it has not seen. */
const history = 30

interface Place {
  name: string
  transaction_id: string
  position: string
}

/** What of each service's events the notifier has still to take in, for webhooks. */
export async function lookAtIntake(attempts: Attempts): Promise<Record<string, LagStatus> | undefined> {
  const places = await attempts.inService(
    'notifier',
    (sql) => sql<Place[]>`
      select service as name, transaction_id::text, position::text from cursors
      where service = any(${[...storingServices]}::text[])
    `,
  )
  if (!places) return undefined
  const lags = storingServices.map(async (service) => {
    const place = places.find(({ name }) => name === service)
    return [service, await attempts.inService(service, (sql) => (place ? behind(sql, place) : recent(sql)))] as const
  })
  return told(await Promise.all(lags))
}

/** How far the followers of each service are behind the events that they follow. */
export async function lookAtFollowers(
  attempts: Attempts,
): Promise<Partial<Record<StoringService, Record<string, LagStatus>>>> {
  const places = await attempts.inEach(
    (sql) => sql<Place[]>`
      select name, transaction_id::text, position::text from followers
    `,
  )
  const all = Object.entries(places).map(async ([service, reached]) => {
    const own = Object.entries(followers[service as StoringService]).map(async ([name, source]) => {
      const place = reached.find((one) => one.name === name) ?? { name, transaction_id: '0', position: '0' }
      return [name, await attempts.inService(source, (sql) => behind(sql, place))] as const
    })
    return [service, told(await Promise.all(own))] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

function told(lags: (readonly [string, LagStatus | undefined])[]): Record<string, LagStatus> {
  return Object.fromEntries(lags.filter((one): one is [string, LagStatus] => one[1] !== undefined))
}

async function behind(sql: Sql, { transaction_id, position }: Place): Promise<LagStatus> {
  return counted(
    await sql<[LagStatus]>`
      select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
      from (
        select created_at from events where (transaction_id, position) > (${transaction_id}::xid8, ${position}::bigint)
        order by events.transaction_id, events.position limit ${most}
      ) next
    `,
  )
}

// The notifier has no place before it has found an event.
async function recent(sql: Sql): Promise<LagStatus> {
  return counted(
    await sql<[LagStatus]>`
      select count(*)::int as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
      from (
        select created_at from events order by events.transaction_id desc, events.position desc limit ${most}
      ) last
      where created_at >= now() - make_interval(days => ${history})
    `,
  )
}

function counted([row]: [LagStatus]): LagStatus {
  return { ...row, seconds: Math.max(0, row.seconds) }
}
