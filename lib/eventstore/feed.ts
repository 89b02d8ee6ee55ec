import type { FileRegistry } from '@bufbuild/protobuf'
import {
  type EventFilter,
  ListedEvent,
  type ListEventsRequest,
  type ListEventsResponse,
} from '#gen/roster/feed/v1/feed'
import { describeEvent } from '../events/cloud-event.ts'
import type { StoredEvent } from '../events/publish.ts'
import { orUnavailable, type Sql } from './database.ts'
import { findEnd, findStart, look, read, toPosition } from './feed-rows.ts'

/** Rows that one call looks at, at most. */
const mostLookedAt = 5000
/** Bytes of events that one answer has, give or take the last one: NATS takes no answer above 2 MB. */
const mostBytes = 512 * 1024

export interface FeedOptions {
  service: string
  sql: Sql
  /** Where the messages of the events are looked up. Default: proto/. */
  messages?: FileRegistry
  /** Rows that one call looks at, at most. */
  mostLookedAt?: number
}

/**
 * Answers ListEvents: a service's own committed events in the order of their commit, as they are published. Whatever transactions
 * overlap, who goes on from `next` misses none and gets none twice. UNAVAILABLE STORE_UNAVAILABLE.
 */
export function createFeed({ service, sql, messages, mostLookedAt: window = mostLookedAt }: FeedOptions) {
  return async (_context: unknown, request: ListEventsRequest): Promise<ListEventsResponse> => {
    const filter = request.filter ?? everything
    const limit = Math.min(Math.max(request.limit, 1), 1000)
    if (request.fromEnd && !request.after)
      return { events: [], next: await orUnavailable(findEnd(sql, filter)), endReached: true }
    const after = request.after ?? (await orUnavailable(findStart(sql, filter.since)))
    const { last, endReached } = await orUnavailable(look(sql, after, filter, window))
    const rows = await orUnavailable(read(sql, after, last, filter, limit))
    const events = fit(rows.map((row) => list(service, row, messages)))
    const all = events.length === rows.length && rows.length < limit
    return { events, next: all ? last : events.at(-1)!.position, endReached: all && endReached }
  }
}

const everything: EventFilter = {
  organizationId: '',
  aggregateTypes: [],
  aggregateIds: [],
  eventTypes: [],
  actors: [],
  since: undefined,
}

function list(service: string, row: StoredEvent, messages: FileRegistry | undefined): ListedEvent {
  const event = { ...describeEvent(service, row, messages), time: row.created_at }
  return { position: toPosition(row), event }
}

function fit(events: ListedEvent[]): ListedEvent[] {
  let bytes = 0
  const over = events.findIndex((event, index) => {
    bytes += ListedEvent.encode(event).finish().length
    return index > 0 && bytes > mostBytes
  })
  return over < 0 ? events : events.slice(0, over)
}
