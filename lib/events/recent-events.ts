import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import { meansType } from './event-type.ts'
import type { StoredEvent } from './stored-event.ts'

/**
 * The last settled events of a service, without a gap: no event can appear between two of them any more. So they
 * answer for every place between the first and the last of them, at any time and in every replica.
 */
export interface RecentEvents {
  /** Adds all settled events that directly follow a place. `bytes`: roughly what they take. */
  add(after: Pick<StoredEvent, 'transaction_id' | 'position'>, events: StoredEvent[], bytes: number): void
  /** The known events that follow a place; undefined if there is none, or an unknown one may be between. */
  after(place: EventPosition): StoredEvent[] | undefined
  /** Forgets all: PostgreSQL may have been set back. */
  clear(): void
}

// At 3,000 events a second, the audit chain, which looks once a second, still finds all of them here.
const mostEvents = 6000
const mostBytes = 4 * 1024 * 1024

interface Page {
  after: EventPosition
  events: StoredEvent[]
  bytes: number
}

export function keepRecentEvents(): RecentEvents {
  let pages: Page[] = []
  let [count, bytes] = [0, 0]

  function clear() {
    pages = []
    ;[count, bytes] = [0, 0]
  }

  const end = () => placeOf(pages.at(-1)!.events.at(-1)!)

  return {
    clear,
    add(place, events, size) {
      const after = placeOf(place)
      // A page that could not be published comes again.
      const isKnown = pages.length > 0 && !isBefore(after, pages[0]!.after) && !isBefore(end(), after)
      if (!isKnown) clear()
      const added = pages.length === 0 ? events : following(events, end())
      if (added.length === 0) return
      pages.push({ after: pages.length === 0 ? after : end(), events: added, bytes: size })
      count += added.length
      bytes += size
      while (pages.length > 1 && (count > mostEvents || bytes > mostBytes)) {
        const oldest = pages.shift()!
        count -= oldest.events.length
        bytes -= oldest.bytes
      }
    },
    after(place) {
      const from = pages.findLastIndex((page) => !isBefore(place, page.after))
      if (from < 0) return undefined
      const found = following(pages[from]!.events, place).concat(...pages.slice(from + 1).map(({ events }) => events))
      return found.length > 0 ? found : undefined
    },
  }
}

/** Whether an event passes a filter, as the statement of a feed decides it. */
export function passesFilter(filter: EventFilter, event: StoredEvent): boolean {
  const { organizationId, aggregateTypes, aggregateIds, eventTypes, actors, since } = filter
  const isOf = (list: string[], value: string) => list.length === 0 || list.includes(value)
  return (
    (organizationId === '' || event.organization_id === organizationId) &&
    isOf(aggregateTypes, event.aggregate_type) &&
    isOf(aggregateIds, event.aggregate_id) &&
    isOf(actors, event.creator) &&
    (!since || event.created_at.getTime() >= since.getTime()) &&
    (eventTypes.length === 0 || eventTypes.some((wanted) => meansType(wanted, `${event.aggregate_type}.${event.type}`)))
  )
}

function following(events: StoredEvent[], place: EventPosition): StoredEvent[] {
  const first = events.findIndex((event) => isBefore(place, placeOf(event)))
  return first < 0 ? [] : events.slice(first)
}

function isBefore(a: EventPosition, b: EventPosition): boolean {
  return a.transactionId < b.transactionId || (a.transactionId === b.transactionId && a.position < b.position)
}

function placeOf({ transaction_id, position }: Pick<StoredEvent, 'transaction_id' | 'position'>): EventPosition {
  return { transactionId: Number(transaction_id), position: Number(position) }
}
