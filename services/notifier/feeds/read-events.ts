import { Event, type EventFilter, type EventPosition, type ListedEvent } from '#gen/roster/feed/v1/feed'
import { codes, RosterError } from '#lib/errors'
import type { Feed } from '#lib/subscriptions/own-events'
import type { ServiceCall } from '#lib/rpc/call'
import type { Cursor } from './cursor.ts'

/** Lists each service's events, by the service's name. */
export type Feeds = Record<string, Feed<ServiceCall>>

/** Asks for events from the cursor on. Without a cursor: from the beginning or, with `fromEnd`, from the end. */
export interface EventQuery {
  cursor: Cursor | undefined
  fromEnd: boolean
  filter: EventFilter | undefined
  limit: number
}

export interface EventPage {
  events: Event[]
  /** The place to go on from: behind these events and before every other event that passes the filter. */
  cursor: Cursor
  /** Whether there were no more events. */
  endReached: boolean
}

/** Bytes of events in a page, give or take the last event: NATS takes no answer above 2 MB. */
const mostBytes = 1024 * 1024
/** Milliseconds after which reading stops if next to nothing passes the filter. */
const patience = 2_000
const answerWithin = 5_000

/**
 * Reads the events of several services into one order: by time, and within a service by commit. The order does not
 * depend on how pages divide it. UNAVAILABLE if a service does not answer: a page without its events would be wrong.
 */
export async function readEvents(feeds: Feeds, query: EventQuery, call: ServiceCall): Promise<EventPage> {
  const { cursor = {}, limit } = query
  const filter = query.filter && { ...query.filter, since: sinceFirst(query.filter.since) }
  const fromEnd = query.fromEnd && query.cursor === undefined
  const stopReading = Math.min(Date.now() + patience, call.deadline)
  const sources = Object.keys(feeds).map((name): Source => ({ name, queue: [], next: cursor[name], endReached: false }))

  async function refill(source: Source) {
    const request = { after: source.next, fromEnd, filter, limit }
    const {
      events: queue,
      next,
      endReached,
    } = await ask(() => feeds[source.name]!(request, within(call)), call.deadline)
    Object.assign(source, { queue, next, endReached })
  }

  const events: Event[] = []
  let bytes = 0
  for (let round = 0; events.length < limit;) {
    // The next event is known only once each service has shown its own next event.
    const empty = sources.filter(({ queue, endReached }) => queue.length === 0 && !endReached)
    if (empty.length > 0) {
      if (round++ > 0 && Date.now() > stopReading) break
      await Promise.all(empty.map(refill))
      continue
    }
    const first = earliest(sources)
    if (!first) break
    const { event } = first.queue[0]!
    bytes += Event.encode(event!).finish().length
    if (events.length > 0 && bytes > mostBytes) break
    events.push(event!)
    first.queue.shift()
  }
  const places = sources.map(({ name, queue, next }) => [name, queue[0] ? before(queue[0]) : next!])
  return {
    events,
    cursor: { ...cursor, ...Object.fromEntries(places) },
    endReached: sources.every(({ queue, endReached }) => queue.length === 0 && endReached),
  }
}

// No event is older than 1970. The generated encoder writes earlier times with a fraction as no `Timestamp` may be.
function sinceFirst(since: Date | undefined): Date | undefined {
  return since && new Date(Math.max(since.getTime(), 0))
}

interface Source {
  name: string
  /** Events that were read but not handed out yet. */
  queue: ListedEvent[]
  /** The place behind the queue. */
  next: EventPosition | undefined
  /** Whether there was nothing behind the queue. */
  endReached: boolean
}

function within(call: ServiceCall): ServiceCall {
  const { requestId, traceparent = '' } = call
  return { requestId, traceparent, deadline: Math.min(call.deadline, Date.now() + answerWithin) }
}

/** Asks a feed. UNAVAILABLE SERVICE_UNAVAILABLE if the feed does not answer before the caller's own deadline. */
export async function ask<T>(work: () => Promise<T>, deadline: number): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const silent = cause instanceof RosterError && cause.code === codes.DEADLINE_EXCEEDED && Date.now() < deadline
    if (!silent) throw cause
    const message = 'A service that has events does not answer.'
    throw new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause })
  }
}

function earliest(sources: Source[]): Source | undefined {
  const time = ({ queue }: Source) => queue[0]!.event!.time!.getTime()
  return sources
    .filter(({ queue }) => queue.length > 0)
    .reduce<Source | undefined>((first, source) => (first && time(first) <= time(source) ? first : source), undefined)
}

// The next page need not look again at the events that were passed over on the way here.
function before({ position }: ListedEvent): EventPosition {
  return { ...position!, position: position!.position - 1 }
}
