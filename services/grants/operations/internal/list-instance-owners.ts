import type { ListInstanceOwnersRequest, ListInstanceOwnersResponse } from '#gen/roster/grants/v1/internal_service'
import type { Context } from '../../context.ts'
import { findInstanceOwners } from '../../members/instance-owners.ts'

export async function listInstanceOwners(
  { sql }: Context,
  _request: ListInstanceOwnersRequest,
): Promise<ListInstanceOwnersResponse> {
  return { userIds: await findInstanceOwners(sql) }
}
