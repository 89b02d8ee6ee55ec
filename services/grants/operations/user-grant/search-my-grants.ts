import type { SearchMyGrantsRequest, SearchMyGrantsResponse } from '#gen/roster/grants/v1/user_grant_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { searchGrantsOfUsers } from '../../search/search-grants-of-users.ts'

export async function searchMyGrants(
  context: Context,
  request: SearchMyGrantsRequest,
  call: Call,
): Promise<SearchMyGrantsResponse> {
  const { sql } = context
  const asked = { method: 'SearchMyGrants', request, call }
  const { rows, ...page } = await searchGrantsOfUsers(context, asked, {
    where: sql`u.user_id = ${call.caller.userId}`,
  })
  return { ...page, userGrants: rows }
}
