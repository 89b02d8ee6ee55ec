import type { DeactivateUserGrantRequest, DeactivateUserGrantResponse } from '#gen/roster/grants/v1/user_grant_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownUserGrant } from '../../own-user-grant.ts'
import type { UserGrant, UserGrantEvent } from '../../vocabulary/user-grant.ts'

export async function deactivateUserGrant(
  { store }: Context,
  { userId, grantId }: DeactivateUserGrantRequest,
  call: Call,
): Promise<DeactivateUserGrantResponse> {
  return store.execute({
    aggregate: { type: 'user_grant', id: grantId },
    call,
    decide(aggregate: Aggregate<UserGrant>): Decision<UserGrantEvent> {
      if (ownUserGrant(aggregate, userId, call.organizationId).inactive)
        throw new RosterError('FAILED_PRECONDITION', 'USER_GRANT_ALREADY_INACTIVE', 'The grant is inactive already.')
      return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
