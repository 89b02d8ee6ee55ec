import { randomUUID } from 'node:crypto'
import type { Sql } from '#lib/database/database'

/**
 * The most under way to an application, and to those of an organization. Two notifiers that look in the same moment may
 * take as much each.
 */
const ofApplication = 2
const ofOrganization = 8
/** Seconds beyond a try's time after which another worker may take over. */
const takenBeyond = 15

/** A logout that this process alone has taken. */
export interface TakenLogout {
  deliveryId: string
  applicationId: string
  sessionId: string
  takenBy: string
  attempts: number
  queuedAt: Date
  /** PostgreSQL's time of that. */
  now: Date
}

/** Takes logouts that are due, applications and organizations side by side. A try may last `within` milliseconds. */
export function takeLogouts(sql: Sql, most: number, within: number): Promise<TakenLogout[]> {
  const takenBy = randomUUID()
  return sql<TakenLogout[]>`
    with recursive applications as (
      (select application_id from logouts order by application_id limit 1)
      union all
      select (
        select l.application_id from logouts l where l.application_id > a.application_id order by l.application_id limit 1
      )
      from applications a where a.application_id is not null
    ), due as (
      select d.*,
        row_number() over (partition by d.organization_id order by d.due_at, d.delivery_id) + (
          select count(*) from logouts t
          where t.organization_id = d.organization_id and t.taken_by <> '' and t.due_at > roster_now()
        ) as place
      from applications a cross join lateral (
        select delivery_id, organization_id, due_at from logouts l
        where l.application_id = a.application_id and due_at <= roster_now()
        order by due_at limit greatest(0, ${ofApplication} - (
          select count(*) from logouts t
          where t.application_id = a.application_id and t.taken_by <> '' and t.due_at > roster_now()
        ))
      ) d
    ), taken as (
      update logouts l
      set taken_by = ${takenBy}, due_at = roster_now() + make_interval(secs => ${within / 1000 + takenBeyond})
      from (
        select delivery_id from due where place <= ${ofOrganization} order by place, due_at limit ${most}
      ) chosen
      -- Another worker may have been faster.
      where l.delivery_id = chosen.delivery_id and l.due_at <= roster_now()
      returning l.*
    )
    select delivery_id as "deliveryId", t.application_id as "applicationId", session_id as "sessionId",
      taken_by as "takenBy", attempts, queued_at as "queuedAt", roster_now() as now
    from taken t join deliveries d on d.id = t.delivery_id
  `
}

/** The outcome of a try. `delay`: milliseconds until the next one; undefined where it is over. */
export interface SettledLogout {
  state: 'sent' | 'failed' | 'queued'
  error: string
  delay?: number | undefined
}

/** Records a try. Has no effect if another worker has taken over. */
export async function settleLogout(
  sql: Sql,
  { deliveryId, takenBy }: TakenLogout,
  { state, error, delay }: SettledLogout,
): Promise<void> {
  const isOver = delay === undefined
  await sql`
    with given as (
      ${
        isOver
          ? sql`delete from logouts where delivery_id = ${deliveryId} and taken_by = ${takenBy} returning true`
          : sql`
            update logouts set taken_by = '', due_at = roster_now() + make_interval(secs => ${delay / 1000})
            where delivery_id = ${deliveryId} and taken_by = ${takenBy} returning true
          `
      }
    )
    update deliveries set state = ${state}, error = ${error}, attempts = attempts + 1, changed_at = roster_now()
    where id = ${deliveryId} and exists (select from given)
  `
}

/** Gives one back without recording a try. */
export async function giveLogoutBack(sql: Sql, { deliveryId, takenBy }: TakenLogout): Promise<void> {
  await sql`
    update logouts set taken_by = '', due_at = roster_now() where delivery_id = ${deliveryId} and taken_by = ${takenBy}
  `
}
