import type { MatchUsersRequest, MatchUsersResponse } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import { runQueued } from '#lib/search/search-queue'
import type { Context } from '../context.ts'
import { userConditions } from '../directory/search/user-conditions.ts'

export async function matchUsers(
  { sql }: Context,
  { organizationId, queries, after, limit }: MatchUsersRequest,
  { deadline }: Call,
): Promise<MatchUsersResponse> {
  const rows = await runQueued(
    sql,
    { organizationId, deadline },
    sql<{ userId: string }[]>`
      select u.user_id as "userId" from found_users u
      where u.organization_id = ${organizationId} and u.user_id > ${after}
        and ${userConditions(sql, queries, organizationId)}
      order by u.user_id
      limit ${limit}
    `,
  )
  return { userIds: rows.map(({ userId }) => userId) }
}
