import type {
  ArrivedStep,
  Refusal,
  SearchArrivalsRequest,
  SearchArrivalsResponse,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../context.ts'
import { tooOld } from '../openid/arrivals/arrival-rows.ts'

export async function searchArrivals(
  { sql, keys }: Context,
  request: SearchArrivalsRequest,
  call: Call,
): Promise<SearchArrivalsResponse> {
  const { applicationId } = request
  const page = await search<Refusal>(
    { sql, keys },
    {
      method: 'SearchArrivals',
      request,
      call,
      columns: sql`r.id, r.at, r.cause, r.parameter, r.sent, r.allowed, r.description, r.count, r.left_out as "leftOut"`,
      from: sql`application_refusals r`,
      where: sql`r.application_id = ${applicationId} and r.at > ${tooOld(sql)}`,
      // The ids are UUIDs of version 7, which hold the time.
      order: { by: [{ column: sql`r.id`, type: 'uuid' }], descending: true },
    },
  )
  const steps = await orUnavailable(sql<ArrivedStep[]>`
    select step, at from application_steps where application_id = ${applicationId} and at > ${tooOld(sql)}
  `)
  return { refusals: page.rows, nextCursor: page.nextCursor, total: page.total, steps }
}
