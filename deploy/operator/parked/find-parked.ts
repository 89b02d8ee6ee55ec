import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import type { System } from '../system.ts'

/**
 * A parked event. Without a follower, the stream never got it. With one, that follower of the service went on without
 * it.
 */
export interface Parked {
  /** `users-17`, or `grants/user-removal/17`. */
  id: string
  service: StoringService
  position: string
  follower?: string
  /** `user.removed`; empty where the event is one of another service. */
  type: string
  aggregateId: string
  tries: number
  /** Somebody asked for another try, which is still to come. */
  retry: boolean
  reason: string
}

/** All parked events of these services. */
export async function findParked(system: System, services: readonly StoringService[]): Promise<Parked[]> {
  const found: Parked[] = []
  for (const service of services) found.push(...(await ofService(service, system.sql(service))))
  return found
}

/** The service and the rest of an id of `Parked`; undefined for another text. */
export function readParkedId(id: string): Pick<Parked, 'service' | 'position' | 'follower'> | undefined {
  const [, service, follower, position] = /^([a-z]+)(?:\/([^/]+)\/|-)(\d{1,18})$/.exec(id) ?? []
  const known = storingServices.find((name) => name === service)
  return known && { service: known, position: position!, ...(follower !== undefined && { follower }) }
}

async function ofService(service: StoringService, sql: Sql): Promise<Parked[]> {
  const refused = await sql<Pick<Parked, 'position' | 'type' | 'aggregateId' | 'retry' | 'reason'>[]>`
    select p.position::text, p.reason, p.retry, coalesce(e.aggregate_type || '.' || e.type, '') as type,
      coalesce(e.aggregate_id, '') as "aggregateId"
    from parked_events p left join events e using (position) order by p.position
  `
  const left = await sql<(Pick<Parked, 'position' | 'tries' | 'reason' | 'retry'> & { follower: string })[]>`
    select follower, position::text, tries, reason, next_try_at <= now() as retry from parked_for_followers
    order by follower, position
  `
  return [
    ...refused.map((row) => ({ id: `${service}-${row.position}`, service, tries: 1, ...row })),
    ...left.map((row) => {
      const ids = { id: `${service}/${row.follower}/${row.position}`, service }
      return { ...ids, type: '', aggregateId: '', ...row }
    }),
  ]
}
