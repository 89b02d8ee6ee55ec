import { UserState } from '#gen/roster/users/v1/user'
import type { User, UserEvent } from '../events/user.ts'
import { userNotFound } from '../events/user-not-found.ts'

/** Whether the user exists and may sign in: neither deactivated nor locked nor removed. */
export function isActive(user: User | undefined): boolean {
  return user !== undefined && !user.inactive && !user.locked && !user.removed
}

/** The user, active or not. NOT_FOUND USER_NOT_FOUND where there is none, or it was removed. */
export function existing(user: User | undefined): User {
  if (!user || user.removed) throw userNotFound()
  return user
}

/** The user, also one whose removal can be undone. NOT_FOUND USER_NOT_FOUND where there is none, or it is erased. */
export function existingOrFormer(user: User | undefined): User {
  if (user?.former) return user
  return existing(user)
}

/** The events after which a user may not sign in. */
export const endsUse: ReadonlySet<string> = new Set<UserEvent['type']>(['deactivated', 'locked', 'removed'])

/** The state of an existing user in the form of answers. */
export function shownState(user: User): UserState {
  if (user.inactive) return UserState.USER_STATE_INACTIVE
  return user.locked ? UserState.USER_STATE_LOCKED : UserState.USER_STATE_ACTIVE
}
