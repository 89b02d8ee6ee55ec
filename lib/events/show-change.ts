import type { Event } from '#gen/roster/feed/v1/feed'
import { describeEnvelope, describeEvent } from './cloud-event.ts'
import type { StoredEvent } from './stored-event.ts'

/** Shows an event of a service among those of its object. */
export function showChange(service: string, row: StoredEvent): Event {
  const time = row.created_at
  try {
    return { ...describeEvent(service, row), dataOmitted: row.erased ? 'forgotten' : '', time }
  } catch {
    // One that proto/ does not know hides no other.
    return { ...describeEnvelope(service, row), data: undefined, dataOmitted: 'unreadable', time }
  }
}
