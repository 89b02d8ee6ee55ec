import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import { keyKinds, type NewMember, type NewUserGrant } from './vocabulary.ts'

/** The unique key of a membership: a user may be a member of an organization once. */
export function memberKey(organizationId: string, { userId }: NewMember): UniqueKey {
  return { kind: keyKinds.member, scope: organizationId, key: userId }
}

/**
 * The unique key of a user grant: an organization may give a user one grant for a project, or for a grant of that
 * project.
 */
export function userGrantKey(organizationId: string, { userId, projectId, projectGrantId }: NewUserGrant): UniqueKey {
  return { kind: keyKinds.userGrant, scope: organizationId, key: JSON.stringify([userId, projectId, projectGrantId]) }
}

/**
 * The note that a user was removed. Every operation that gives a user something reads it. Otherwise a gift decided
 * before the removal could be stored after it.
 */
export function removalNote(userId: string): AggregateKey {
  return { type: 'removed_user', id: userId }
}

/** NOT_FOUND USER_NOT_FOUND where the note exists. */
export function refuseRemoved(note: Aggregate): void {
  if (note.state) throw new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}
