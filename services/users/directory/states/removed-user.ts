import type { Decision } from '#lib/eventstore/command'
import type { Write } from '#lib/database/database'
import { linkKind } from '../events/links.ts'
import { keysOfUser, userNameKind } from '../new-user.ts'
import type { User, UserEvent } from '../events/user.ts'

/** Removes a user that is there, for good. */
export function removedUser(user: User, organizationId: string): Decision<UserEvent> {
  return {
    releases: keysOfUser(user, organizationId),
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}

/**
 * Removes for good a user whose state is unreadable. What hangs on the state otherwise is found by the user's id.
 * This cannot be undone, whatever the delay.
 */
export function removedUnreadable(userId: string): Decision<UserEvent> {
  return { events: [{ type: 'removed', payload: {} }], writes: clearUnreadable(userId), answer: undefined }
}

/** Deletes what only the state of a user could name. */
export function clearUnreadable(userId: string): Write[] {
  return [
    (sql) => sql`delete from unique_keys where kind in (${userNameKind}, ${linkKind}) and aggregate_id = ${userId}`,
    (sql) => sql`delete from unsent_email_codes where user_id = ${userId}`,
    (sql) => sql`
      with gone as (delete from expiring_credentials where user_id = ${userId}),
        known as (delete from machine_credentials where user_id = ${userId})
      delete from machine_secrets where user_id = ${userId}
    `,
  ]
}

/** Removes a user that is there. The name stays taken until the user is erased. */
export function removedUntil(forgetAt: Date): Decision<UserEvent> {
  return { events: [{ type: 'removed', payload: { forgetAt: forgetAt.toISOString() } }], answer: undefined }
}

/** Erases a user whose removal could still be undone, as it was before the removal. */
export function erasedUser(user: User, organizationId: string): Decision<UserEvent> {
  return {
    releases: keysOfUser(user, organizationId),
    events: [{ type: 'forgotten', payload: {} }],
    answer: undefined,
  }
}
