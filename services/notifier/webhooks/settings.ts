import type { Violation } from '#lib/errors'
import type { Destinations } from './destination.ts'
import { isEventType } from './event-types.ts'

/** What is wrong with the address and the event types of a webhook. */
export function checkSettings(
  { destinations }: { destinations: Destinations },
  { url, eventTypes }: { url: string; eventTypes: string[] },
): Violation[] {
  const fault = url === '' ? undefined : destinations.faultOf(url)
  const unknown = eventTypes.flatMap((type, index) =>
    type === '' || isEventType(type) ? [] : [{ field: `eventTypes[${index}]`, description: 'is no type of event' }],
  )
  return [...(fault ? [{ field: 'url', description: fault }] : []), ...unknown]
}
