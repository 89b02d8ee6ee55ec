import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import { keyKinds, type NewMember, type NewUserGrant } from './vocabulary.ts'

/** A user may be a member of an organization once. */
export function memberKey(organizationId: string, { userId }: NewMember): UniqueKey {
  return { kind: keyKinds.member, scope: organizationId, key: userId }
}

/** A user may have one grant of an organization for a project, or for a grant of it. */
export function userGrantKey(organizationId: string, { userId, projectId, projectGrantId }: NewUserGrant): UniqueKey {
  return { kind: keyKinds.userGrant, scope: organizationId, key: JSON.stringify([userId, projectId, projectGrantId]) }
}

/** The note that a user was removed: whoever gives a user something reads it, so that nothing is given behind the removal. */
export function removalNote(userId: string): AggregateKey {
  return { type: 'removed_user', id: userId }
}

/** NOT_FOUND USER_NOT_FOUND where the note is there. */
export function refuseRemoved(note: Aggregate): void {
  if (note.state) throw new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}
