import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { User } from './vocabulary/user.ts'

/** The kind of the unique keys that hold user names: scope is the organization. */
export const userNameKind = 'user_name'

/** The unique key of a user name. */
export function userNameKey(organizationId: string, userName: string): UniqueKey {
  return { kind: userNameKind, scope: organizationId, key: canonicalName(userName) }
}

/** A user name may be used once in an organization, by a human or a machine. */
export function claimUserName(organizationId: string, userName: string): UniqueKey & { taken: RosterError } {
  return {
    ...userNameKey(organizationId, userName),
    taken: new RosterError('ALREADY_EXISTS', 'USER_NAME_TAKEN', 'The organization has a user of this name already.'),
  }
}

/** Throws ALREADY_EXISTS USER_ID_TAKEN where the aggregate is there already. */
export function refuseTakenId(user: Aggregate<User>): void {
  if (user.state) throw new RosterError('ALREADY_EXISTS', 'USER_ID_TAKEN', 'There is a user with this id already.')
}
