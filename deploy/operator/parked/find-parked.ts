import type { Sql } from '#lib/eventstore/database'
import { storingServices, type StoringService } from '../../provision.ts'
import { bytesOf, fitting, mostRows } from '../reading/page-limits.ts'

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
  /** The bytes of its texts, where they are larger than any of Roster, and so were cut. */
  cutFrom?: number
}

/** Bytes of a follower's name. Whose name is longer is no follower of Roster, and its parked events are not read. */
const longestFollower = 200
/** Characters of a type or an id, and of a reason. No service stores longer ones. */
const [longestId, longestReason] = [300, 1000]
/** No position is before it. */
const first = '-9223372036854775808'

/** How many events of a service are parked, and how many more have a follower whose name is too long. */
export async function countParked(sql: Sql): Promise<{ parked: number; unread: number }> {
  const [row] = await sql<[{ parked: number; unread: number }]>`
    select ((select count(*) from parked_events) + count(*) filter (where octet_length(follower) <= ${longestFollower}))::float8
        as parked,
      count(*) filter (where octet_length(follower) > ${longestFollower})::float8 as unread
    from parked_for_followers
  `
  return row
}

/** All parked events of a service, a page after the other. */
export async function* findParked(service: StoringService, sql: Sql): AsyncGenerator<Parked[]> {
  for (let after = first; ;) {
    const rows = await refusedAfter(sql, after)
    if (rows.length === 0) break
    yield rows.map((row) => shown({ id: `${service}-${row.position}`, service, ...row, tries: 1 }))
    after = rows.at(-1)!.position
  }
  for (let after = { follower: '', position: first }; ;) {
    const rows = await leftAfter(sql, after)
    if (rows.length === 0) break
    yield rows.map((row) =>
      shown({ id: `${service}/${row.follower}/${row.position}`, service, type: '', aggregateId: '', ...row }),
    )
    after = rows.at(-1)!
  }
}

/** The service and the rest of an id of `Parked`; undefined for another text. */
export function readParkedId(id: string): Pick<Parked, 'service' | 'position' | 'follower'> | undefined {
  const [, service, follower, position] = /^([a-z]+)(?:\/([^/]+)\/|-)(\d{1,18})$/.exec(id) ?? []
  const known = storingServices.find((name) => name === service)
  return known && { service: known, position: position!, ...(follower !== undefined && { follower }) }
}

type Read = Pick<Parked, 'position' | 'retry' | 'reason'> & { stored: number }

function refusedAfter(sql: Sql, position: string) {
  const measured = sql`
    select p.position, p.retry, left(p.reason, ${longestReason}) as reason, e.type, e.aggregate_id,
      octet_length(p.reason)::bigint + coalesce(e.stored, 0) as stored,
      octet_length(left(p.reason, ${longestReason}))::bigint + coalesce(e.bytes, 0) as bytes
    from parked_events p left join lateral (
      select aggregate_id, type, stored, ${bytesOf(sql, ['aggregate_id', 'type'])} as bytes from (
        select left(aggregate_id, ${longestId}) as aggregate_id,
          left(aggregate_type, ${longestId}) || '.' || left(type, ${longestId}) as type,
          octet_length(aggregate_id)::bigint + octet_length(aggregate_type) + 1 + octet_length(type) as stored
        from events where events.position = p.position limit 1
      ) cut
    ) e on true
    where p.position > ${position}::bigint order by p.position limit ${mostRows}
  `
  return sql<(Read & Pick<Parked, 'type' | 'aggregateId'>)[]>`
    select position::text, retry, reason, coalesce(type, '') as type, coalesce(aggregate_id, '') as "aggregateId",
      stored::float8
    from (${fitting(sql, measured, sql`position`)}) parked order by parked.position
  `
}

function leftAfter(sql: Sql, { follower, position }: { follower: string; position: string }) {
  const measured = sql`
    select follower, position, tries, next_try_at, left(reason, ${longestReason}) as reason,
      octet_length(reason)::bigint as stored,
      octet_length(follower)::bigint + octet_length(left(reason, ${longestReason})) as bytes
    from parked_for_followers
    where octet_length(follower) <= ${longestFollower} and (follower, position) > (${follower}, ${position}::bigint)
    order by follower, position limit ${mostRows}
  `
  return sql<(Read & Pick<Parked, 'tries'> & { follower: string })[]>`
    select follower, position::text, tries, reason, next_try_at <= now() as retry, stored::float8
    from (${fitting(sql, measured, sql`follower, position`)}) parked order by parked.follower, parked.position
  `
}

function shown({ stored, ...parked }: Parked & { stored: number }): Parked {
  const { type, aggregateId, reason } = parked
  const isCut = stored > Buffer.byteLength(type + aggregateId + reason)
  return isCut ? { ...parked, cutFrom: stored } : parked
}
