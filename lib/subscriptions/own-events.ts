import type { Event, ListedEvent, ListEventsRequest, ListEventsResponse } from '#gen/roster/feed/v1/feed'
import { RosterError } from '../errors.ts'
import type { Log } from '../log.ts'
import { throttled } from '../throttled.ts'
import { messageOf } from '../events/messages.ts'

/** Lists a service's events. */
export type Feed<Call> = (request: ListEventsRequest, call: Call) => Promise<ListEventsResponse>

/**
 * Lets through only a service's own events: a service that was taken over must not speak for a sister. Leaves out the
 * others and logs that. UNAVAILABLE SERVICE_UNAVAILABLE if the answer has no place to go on from.
 */
export function ownEvents<Call>(service: string, feed: Feed<Call>, log: Log): Feed<Call> {
  const left = throttled(log, `${service} lists events that are not its own`)
  return async (request, call) => {
    const answer = await feed(request, call)
    if (!answer.next) {
      const message = 'A service that has events gives no readable answer.'
      throw new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', message, { retryAfter: 1 })
    }
    const events = answer.events.filter((listed) => isOwn(service, listed))
    if (events.length < answer.events.length) left(new Error(`${answer.events.length - events.length} are left out`))
    return { ...answer, events }
  }
}

function isOwn(service: string, { event, position }: ListedEvent): boolean {
  if (!event?.time || !position) return false
  if (!event.id.startsWith(`${service}-`) || event.source !== `/roster/${service}`) return false
  const owner = ownerOf(event)
  return owner === undefined || owner === service || owner === ofEveryService
}

/** The file of events that every service may have. */
const ofEveryService = 'history'

// Returns the service that has this kind of event. Undefined: proto/ does not know the event.
function ownerOf({ aggregateType, type }: Event): string | undefined {
  const plain = type.slice(`roster.${aggregateType}.`.length).replace(/\.v\d+$/, '')
  try {
    return messageOf(aggregateType, plain).desc.file.name.split('/').at(-1)
  } catch {
    return undefined
  }
}
