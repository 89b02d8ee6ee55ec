import type { Decision } from '#lib/eventstore/command'
import { userNameKey } from '../new-user.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'

/** Removes a user that is there, for good. */
export function removedUser({ userName }: User, organizationId: string): Decision<UserEvent> {
  return {
    releases: [userNameKey(organizationId, userName)],
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}

/** Removes a user that is there. The name stays taken until the user is forgotten. */
export function removedUntil(forgetAt: Date): Decision<UserEvent> {
  return { events: [{ type: 'removed', payload: { forgetAt: forgetAt.toISOString() } }], answer: undefined }
}

/** Forgets a user whose removal could still be undone, as it was before the removal. */
export function forgottenUser({ userName }: User, organizationId: string): Decision<UserEvent> {
  return {
    releases: [userNameKey(organizationId, userName)],
    events: [{ type: 'forgotten', payload: {} }],
    answer: undefined,
  }
}
