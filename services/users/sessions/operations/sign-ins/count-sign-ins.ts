import type { CountSignInsRequest, CountSignInsResponse } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'

const defaultHours = 24
const mostCounted = 100_000

export async function countSignIns(
  { sql }: Context,
  request: CountSignInsRequest,
  { organizationId }: Call,
): Promise<CountSignInsResponse> {
  const hours = request.hours || defaultHours
  // An hour that the limit cuts would look quiet. So the answer begins after it.
  const rows = await orUnavailable(sql<{ hour: Date; signIns: number; failures: number }[]>`
    with since as (
      select date_trunc('hour', roster_now(), 'UTC') - make_interval(hours => ${hours - 1}::int) as first
    ), newest as (
      select at from sign_in_records, since where organization_id = ${organizationId} and at >= first
      order by at desc limit ${mostCounted}
    ), whole as (
      select case when (select count(*) from newest) < ${mostCounted} then first
        else (select date_trunc('hour', min(at), 'UTC') + interval '1 hour' from newest) end as first
      from since
    ), signed as (
      select date_trunc('hour', at, 'UTC') as hour, count(*)::int as count from newest group by 1
    ), failed as (
      select hour, sum(count)::int as count from sign_in_failures, since
      where organization_id = ${organizationId} and hour >= first group by 1
    )
    select hour, coalesce(signed.count, 0) as "signIns", coalesce(failed.count, 0) as failures
    from whole, generate_series(first, date_trunc('hour', roster_now(), 'UTC'), interval '1 hour') as hour
    left join signed using (hour) left join failed using (hour)
    order by hour
  `)
  return { hours: rows.map(({ hour, signIns, failures }) => ({ hour, signIns, failures })) }
}
