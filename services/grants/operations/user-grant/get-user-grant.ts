import type { GetUserGrantRequest, GetUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownUserGrant } from '../../own-user-grant.ts'
import { showUserGrant } from '../../show.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'

export async function getUserGrant(
  { store }: Context,
  { userId, grantId }: GetUserGrantRequest,
  call: Call,
): Promise<GetUserGrantResponse> {
  const grant = await store.load<UserGrant>('user_grant', grantId)
  return { userGrant: showUserGrant({ ...grant!, state: ownUserGrant(grant, userId, call.organizationId) }) }
}
