import type { Violation } from '#lib/errors'
import type { Destinations } from '#lib/outbound/destinations'
import { isEventType } from './event-types.ts'

/** Lists the faults of a webhook's address and event types. */
export function checkSettings(
  { destinations }: { destinations: Destinations },
  { url, eventTypes }: { url: string; eventTypes: string[] },
): Violation[] {
  const fault = url === '' ? undefined : destinations.faultOf(url)
  const unknown = eventTypes.flatMap((type, index) =>
    type === '' || isEventType(type) ? [] : [{ field: `eventTypes[${index}]`, description: 'is not a type of event' }],
  )
  return [...(fault ? [{ field: 'url', description: fault }] : []), ...unknown]
}
