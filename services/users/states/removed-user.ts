import type { Decision } from '#lib/eventstore/command'
import { userNameKey } from '../new-user.ts'
import type { User, UserEvent } from '../vocabulary/user.ts'

/** Removes a user that is there. */
export function removedUser({ userName }: User, organizationId: string): Decision<UserEvent> {
  return {
    releases: [userNameKey(organizationId, userName)],
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}
