import { RosterError } from '#lib/errors'
import type { UniqueKey } from '#lib/eventstore/command'
import { keyKinds } from './vocabulary/key-kinds.ts'
import type { NewMember } from './vocabulary/member.ts'
import type { NewUserGrant } from './vocabulary/user-grant.ts'

/** The unique key of a membership: a user may be a member of an organization once, and once of each project there. */
export function memberKey(organizationId: string, { userId, projectId }: Omit<NewMember, 'roles'>): UniqueKey {
  const key = projectId === undefined ? userId : JSON.stringify([projectId, userId])
  return { kind: keyKinds.member, scope: organizationId, key }
}

/** The unique key of a project grant: a project may be granted once to an organization. */
export function projectGrantKey(projectId: string, grantedOrganizationId: string): UniqueKey {
  return { kind: keyKinds.projectGrant, scope: projectId, key: grantedOrganizationId }
}

/**
 * The unique key of a user grant: an organization may give a user one grant for a project, or for a grant of that
 * project; and each of its identity providers another one.
 */
export function userGrantKey(
  organizationId: string,
  { userId, projectId, projectGrantId, idpId }: NewUserGrant,
): UniqueKey {
  const of = [userId, projectId, projectGrantId, ...(idpId === undefined ? [] : [idpId])]
  return { kind: keyKinds.userGrant, scope: organizationId, key: JSON.stringify(of) }
}

/** The error of the users service for an unknown user. */
export function userNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}
