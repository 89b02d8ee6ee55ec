import type { EventPosition } from '#gen/roster/feed/v1/feed'
import type { Fragment, Sql } from '#lib/database/database'
import { type Place, toPosition } from '#lib/subscriptions/feed-rows'
import type { Cleaned } from './clean-stream.ts'

/** The follower that notes removals. What cannot be cleaned is a dead letter of it. */
export const follower = 'forgetting'

/** Organizations that are served at the same time, and users of each. */
const organizationsAtOnce = 16
const ofOrganization = 4

/** A removed user whose events are to be cleaned out of the stream: for the first time, or again after it was lost. */
export interface Waiting extends Cleaned {
  /** Of the user's last event, the removal. */
  position: EventPosition
  /** Until the outbox has gone past the removal, it may publish earlier events of the user. */
  isPublished: boolean
}

/**
 * The users who come next: some of each organization, those first who wait longest. `after`: the organization that
 * was served last. Returns the one that is served now; empty, where the round is over.
 */
export async function readQueue(sql: Sql, after: string): Promise<{ waiting: Waiting[]; last: string }> {
  const lanes = await sql<{ lane: string }[]>`
    with recursive lanes as (
      (
        select organization_id as lane from forgettings
        where stream_at is null and forget_at is null and organization_id > ${after}
        order by organization_id limit 1
      )
      union all
      select (
        select organization_id from forgettings
        where stream_at is null and forget_at is null and organization_id > lanes.lane
        order by organization_id limit 1
      )
      from lanes where lane is not null
    )
    select lane from lanes where lane is not null limit ${organizationsAtOnce}
  `
  const names = lanes.map(({ lane }) => lane)
  const waiting = await readWaiting(
    sql,
    sql`
    unnest(${names}::text[]) as lane cross join lateral (
      select f.*, e.transaction_id, e.position
      from forgettings f cross join lateral ${lastEvent(sql)} e
      where organization_id = lane and stream_at is null and forget_at is null and not exists (
        select from parked_for_followers k where k.follower = ${follower} and k.position = e.position
      )
      order by removed_at limit ${ofOrganization}
    ) f
  `,
  )
  return { waiting, last: lanes.length < organizationsAtOnce ? '' : names.at(-1)! }
}

/** One user, if the stream is to be cleaned of it. */
export async function readOne(sql: Sql, userId: string): Promise<Waiting | undefined> {
  const [waiting] = await readWaiting(
    sql,
    sql`
    (
      select f.*, e.transaction_id, e.position
      from forgettings f cross join lateral ${lastEvent(sql)} e
      where user_id = ${userId} and stream_at is null and forget_at is null
    ) f
  `,
  )
  return waiting
}

function lastEvent(sql: Sql): Fragment {
  return sql`(
    select transaction_id, position from events
    where aggregate_type = 'user' and aggregate_id = f.user_id order by sequence desc limit 1
  )`
}

async function readWaiting(sql: Sql, from: Fragment): Promise<Waiting[]> {
  // The generation is of the same moment: where the stream is lost later, it is cleaned again.
  const rows = await sql<(Omit<Waiting, 'position'> & Place)[]>`
    select f.user_id as "userId", f.organization_id as "organizationId", f.transaction_id::text, f.position::text,
      (f.transaction_id, f.position) <= (p.transaction_id, p.position) as "isPublished", p.generation
    from published p cross join ${from}
    order by row_number() over (partition by f.organization_id order by f.removed_at), f.organization_id
  `
  const first = rows.find(({ isPublished }) => isPublished)
  // The outbox commits without waiting for the disk, this statement waits, and so for the outbox's commit too. Else the
  // outbox could begin before the removal again after a crash of PostgreSQL.
  if (first) await sql`update forgettings set removed_at = removed_at where user_id = ${first.userId}`
  return rows.map(({ transaction_id, position, ...row }) => ({
    ...row,
    position: toPosition({ transaction_id, position }),
  }))
}
