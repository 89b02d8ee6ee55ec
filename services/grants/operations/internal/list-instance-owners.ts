import type { ListInstanceOwnersRequest, ListInstanceOwnersResponse } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/eventstore/database'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'

export async function listInstanceOwners(
  { sql }: Context,
  _request: ListInstanceOwnersRequest,
): Promise<ListInstanceOwnersResponse> {
  const rows = await orUnavailable(sql<{ userId: string }[]>`
    select user_id as "userId" from memberships
    where organization_id = ${instance.id} and ${instance.administratorRole} = any(roles)
  `)
  return { userIds: rows.map(({ userId }) => userId) }
}
