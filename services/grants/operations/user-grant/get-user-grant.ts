import {
  type GetUserGrantRequest,
  type GetUserGrantResponse,
  UserGrantState,
} from '#gen/roster/grants/v1/user_grant_service'
import { RosterError } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'

export async function getUserGrant(
  { store }: Context,
  { userId, grantId }: GetUserGrantRequest,
  call: Call,
): Promise<GetUserGrantResponse> {
  const grant = await store.load<UserGrant>('user_grant', grantId)
  const isThere = grant && !grant.state.removed && grant.state.userId === userId
  if (!isThere || grant.organizationId !== call.organizationId)
    throw new RosterError('NOT_FOUND', 'USER_GRANT_NOT_FOUND', 'There is no such user grant.')
  return {
    userGrant: {
      id: grant.id,
      details: details(grant),
      state: UserGrantState.USER_GRANT_STATE_ACTIVE,
      organizationId: grant.organizationId,
      ...grant.state,
    },
  }
}
