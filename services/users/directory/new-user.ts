import { canonicalName } from '#lib/search/canonical-name'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Profile } from './events/human.ts'
import { linkKey } from './events/links.ts'
import type { Invitation } from './events/invitation.ts'
import type { User } from './events/user.ts'

/** The kind of the unique keys that hold user names. Their scope is the organization. */
export const userNameKind = 'user_name'

export function userNameKey(organizationId: string, userName: string): UniqueKey {
  return { kind: userNameKind, scope: organizationId, key: canonicalName(userName) }
}

/** All keys that a user holds. */
export function keysOfUser({ userName, human }: Pick<User, 'userName' | 'human'>, organizationId: string): UniqueKey[] {
  return [userNameKey(organizationId, userName), ...(human?.links ?? []).map(linkKey)]
}

/** Claims a user name, which one human or machine of an organization may have. */
export function claimUserName(organizationId: string, userName: string): UniqueKey & { taken: RosterError } {
  return {
    ...userNameKey(organizationId, userName),
    taken: new RosterError('ALREADY_EXISTS', 'USER_NAME_TAKEN', 'The organization already has a user with this name.'),
  }
}

/** The profile of a new human. */
export function newProfile({
  firstName,
  lastName,
  nickName,
  displayName,
  preferredLanguage,
  gender,
}: Omit<Profile, 'nickName' | 'displayName'> & {
  nickName?: string | undefined
  displayName?: string | undefined
}): Profile {
  return {
    firstName,
    lastName,
    ...(nickName !== undefined && { nickName }),
    // A display name may be as long as one name, not as two.
    displayName: displayName ?? [...`${firstName} ${lastName}`].slice(0, 200).join(''),
    preferredLanguage,
    gender,
  }
}

/** Throws ALREADY_EXISTS USER_ID_TAKEN where the aggregate exists already, or an invitation has the id. */
export function refuseTakenId(user: Aggregate<User>, invitation?: Pick<Aggregate<Invitation>, 'state'>): void {
  if (user.state || user.unreadable || invitation?.state)
    throw new RosterError('ALREADY_EXISTS', 'USER_ID_TAKEN', 'There is already a user with this id.')
}
