import type { Event } from '#gen/roster/feed/v1/feed'
import { describeEnvelope, describeEvent } from '#lib/events/cloud-event'
import type { StoredEvent } from '#lib/events/stored-event'

/** Shows an event among those of a user. */
export function showChange(row: StoredEvent): Event {
  const time = row.created_at
  try {
    return { ...describeEvent('users', row), dataOmitted: row.erased ? 'forgotten' : '', time }
  } catch {
    // One that proto/ does not know hides no other.
    return { ...describeEnvelope('users', row), data: undefined, dataOmitted: 'unreadable', time }
  }
}
