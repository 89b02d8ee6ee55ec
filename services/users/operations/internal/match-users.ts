import type { MatchUsersRequest, MatchUsersResponse } from '#gen/roster/users/v1/internal_service'
import { orUnavailable, unprepared } from '#lib/eventstore/database'
import type { Context } from '../../context.ts'
import { userConditions } from '../../search/user-conditions.ts'

export async function matchUsers(
  { sql }: Context,
  { organizationId, queries, after, limit }: MatchUsersRequest,
): Promise<MatchUsersResponse> {
  const rows = await orUnavailable(
    unprepared(sql<{ userId: string }[]>`
      select u.user_id as "userId" from found_users u
      where u.organization_id = ${organizationId} and u.user_id > ${after}
        and ${userConditions(sql, queries, organizationId)}
      order by u.user_id
      limit ${limit}
    `),
  )
  return { userIds: rows.map(({ userId }) => userId) }
}
