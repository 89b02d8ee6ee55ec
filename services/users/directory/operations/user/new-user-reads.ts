import type { AggregateKey } from '#lib/eventstore/aggregate'
import { type Invitation, invitationKey } from '../../events/invitation.ts'
import { type StatusKey, statuses } from '../../organizations/statuses.ts'

export type NewUserKeys = StatusKey & { invitation: AggregateKey<Invitation> }

/** What a new user depends on. The person of an invitation gets its id, so nobody else may. */
export function newUserReads(userId: string, organizationId: string): NewUserKeys {
  return { status: statuses.key(organizationId), invitation: invitationKey(userId) }
}
