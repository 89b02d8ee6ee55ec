import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'

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

/** All parked events of a service, a page after the other. */
export async function* findParked(service: StoringService, sql: Sql): AsyncGenerator<Parked[]> {
  const refused = sql<Omit<Parked, 'id' | 'service'>[]>`
    select p.position::text, coalesce(e.aggregate_type || '.' || e.type, '') as type,
      coalesce(e.aggregate_id, '') as "aggregateId", 1 as tries, retry, reason
    from parked_events p left join events e on e.position = p.position order by p.position
  `
  for await (const page of refused.cursor(pageSize))
    yield page.map((row) => ({ id: `${service}-${row.position}`, service, ...row }))
  const left = sql<(Omit<Parked, 'id' | 'service'> & { follower: string })[]>`
    select follower, position::text, '' as type, '' as "aggregateId", tries, next_try_at <= roster_now() as retry, reason
    from parked_for_followers p order by p.follower, p.position
  `
  for await (const page of left.cursor(pageSize))
    yield page.map((row) => ({ id: `${service}/${row.follower}/${row.position}`, service, ...row }))
}

const pageSize = 1000

/** The service and the rest of an id of `Parked`; undefined for another text. */
export function readParkedId(id: string): Pick<Parked, 'service' | 'position' | 'follower'> | undefined {
  const [, service, follower, position] = /^([a-z]+)(?:\/([^/]+)\/|-)(\d{1,18})$/.exec(id) ?? []
  const known = storingServices.find((name) => name === service)
  return known && { service: known, position: position!, ...(follower !== undefined && { follower }) }
}
