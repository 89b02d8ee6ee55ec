import { v7 as uuid } from 'uuid'
import type { Event } from '#gen/roster/feed/v1/feed'

/**
 * Reads the fate of mails from users' events, in order: ids and times, no address. `take_in` of the schema tells the
 * effect of each row.
 */
export function mailRows(events: Event[]) {
  return events.flatMap((event) => {
    const what = meanings[event.type]
    if (!aggregateTypes.has(event.aggregateType) || !what) return []
    const { codeId, expiresAt, failure } = (event.data ?? {}) as Record<string, string | undefined>
    // Without its data, the event does not say which code it means.
    if (event.data === undefined && what !== 'dropped') return []
    return [
      {
        what,
        id: uuid(),
        organization_id: event.organizationId,
        event_id: event.id,
        event_type: event.type,
        user_id: event.aggregateId,
        code_id: codeId,
        expires_at: expiresAt,
        failure,
        at: event.time,
      },
    ]
  })
}

// How mails ended is told of an aggregate of its own, with the user's id, and of the user by earlier versions.
const aggregateTypes = new Set(['user', 'user.email.code'])

/** A code is dead after so many wrong tries. */
export const mostWrongTries = 5

const meanings: Record<string, 'requested' | 'sent' | 'failed' | 'rejected' | 'dropped'> = {
  'roster.user.email.code.requested.v1': 'requested',
  'roster.user.email.code.sent.v1': 'sent',
  'roster.user.email.code.failed.v1': 'failed',
  'roster.user.email.code.rejected.v1': 'rejected',
  'roster.user.email.code.returned.v1': 'dropped',
  'roster.user.email.changed.v1': 'dropped',
  'roster.user.email.verified.v1': 'dropped',
  'roster.user.removed.v1': 'dropped',
}
