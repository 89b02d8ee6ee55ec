import type { RemoveUserGrantRequest, RemoveUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownUserGrant } from '../../own-user-grant.ts'
import { removedHolding } from '../../cascades/removed-holding.ts'
import type { UserGrant, UserGrantEvent } from '../../vocabulary/user-grant.ts'

export async function removeUserGrant(
  { store }: Context,
  { userId, grantId }: RemoveUserGrantRequest,
  call: Call,
): Promise<RemoveUserGrantResponse> {
  return store.execute({
    aggregate: { type: 'user_grant', id: grantId },
    call,
    decide: (grant: Aggregate<UserGrant>) => takeUserGrant(grant, userId, call.organizationId),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

/** Decides that the organization takes the grant from this user. NOT_FOUND USER_GRANT_NOT_FOUND. */
export function takeUserGrant(
  grant: Aggregate<UserGrant>,
  userId: string,
  organizationId: string,
): Decision<UserGrantEvent> {
  ownUserGrant(grant, userId, organizationId)
  return removedHolding(grant)
}
