import type { RemoveUserGrantRequest, RemoveUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownUserGrant } from '../../own-user-grant.ts'
import { removedHolding } from '../../cascades/removed-holding.ts'
import type { UserGrant } from '../../vocabulary/user-grant.ts'

export async function removeUserGrant(
  { store }: Context,
  { userId, grantId }: RemoveUserGrantRequest,
  call: Call,
): Promise<RemoveUserGrantResponse> {
  return store.execute({
    aggregate: { type: 'user_grant', id: grantId },
    call,
    decide(grant: Aggregate<UserGrant>) {
      ownUserGrant(grant, userId, call.organizationId)
      return removedHolding(grant)
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
