import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UserGrant } from './vocabulary/user-grant.ts'

/** The grant, if the organization gave it to this user. NOT_FOUND USER_GRANT_NOT_FOUND for all others alike. */
export function ownUserGrant(
  grant: Aggregate<UserGrant> | undefined,
  userId: string,
  organizationId: string,
): UserGrant {
  const { state } = grant ?? {}
  if (!state || state.removed || state.userId !== userId || grant!.organizationId !== organizationId)
    throw new RosterError('NOT_FOUND', 'USER_GRANT_NOT_FOUND', 'There is no such user grant.')
  return state
}
