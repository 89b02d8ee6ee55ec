import { namesOf } from '../events/messages.ts'

/** The event of an organization of which a restored database lacks events: `announce_truncation` of functions.sql. */
export const truncatedType = namesOf('history', 'truncated').type

/** The aggregate of these events has no state. */
export function evolveHistory(): object {
  return {}
}
