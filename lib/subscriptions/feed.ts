import type { FileRegistry } from '@bufbuild/protobuf'
import {
  type EventFilter,
  type EventTypes,
  ListedEvent,
  type ListEventsRequest,
  type ListEventsResponse,
} from '#gen/roster/feed/v1/feed'
import { meansType } from '../events/event-type.ts'
import { describeEnvelope, describeEvent, withReadablePlace } from '../events/cloud-event.ts'
import { eventId, type StoredEvent } from '../events/stored-event.ts'
import { passesFilter, type RecentEvents } from '../events/recent-events.ts'
import { RosterError } from '../errors.ts'
import { createFairSemaphore } from '../fair-semaphore.ts'
import type { Log } from '../log.ts'
import { lookups } from '../telemetry/lookups.ts'
import { orUnavailable, type Sql } from '../database/database.ts'
import type { Personal } from '../encryption/personal.ts'
import { countBehind, findEnd, findStart, look, read, toPosition } from './feed-rows.ts'

/** Rows that one call looks at, at most. */
const mostLookedAt = 5000
/** Bytes of events in one answer. The last event may exceed it. NATS takes no answer above 2 MB. */
const mostBytes = 512 * 1024
/**
 * Bytes of an event that is listed with its data. The answer must hold it, and so must any message made from that
 * answer.
 */
const largest = 1536 * 1024

// As of searches: half of the database's connections stay free for other work, and half of these for others.
// Many may wait: one event wakes all that wait for it.
const size = { atOnce: 4, ofOneLane: 2, waiting: 1000 }

function overloaded(): RosterError {
  return new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too many calls for events are already waiting.', {
    retryAfter: 1,
  })
}

export interface FeedOptions {
  service: string
  sql: Sql
  log: Log
  /** The registry of the event messages. Default: proto/. */
  messages?: FileRegistry
  /** Rows that one call looks at, at most. */
  mostLookedAt?: number
  /** Events that need not be read from PostgreSQL. */
  recent?: RecentEvents
  /** Opens what is encrypted. */
  personal?: Personal | undefined
}

/**
 * Answers ListEvents: a service's own committed events in commit order, as they are published. A caller that continues
 * from `next` misses no event and gets none twice, however transactions overlap.
 * An event that fits no answer, or that proto/ cannot describe, comes without its data, and the log says so. One about
 * an erased person comes without its personal fields.
 * With `countOnly` it only counts them.
 * A page of events costs much, and a caller may hang up long before it comes. So few are made at a time, organizations
 * are served round robin, and no page is made after its deadline.
 * UNAVAILABLE STORE_UNAVAILABLE, STORE_OVERLOADED where too many wait; DEADLINE_EXCEEDED.
 */
export function createFeed(options: FeedOptions) {
  const { service, sql, log, messages, mostLookedAt: window = mostLookedAt, recent, personal } = options
  const said = new Set<string>()

  function list(row: StoredEvent, hasData: boolean): Listed {
    const position = toPosition(row)
    let problem: unknown
    try {
      const listed = measured({
        position,
        event: {
          ...(hasData ? describeEvent(service, row, messages) : { ...describeEnvelope(service, row), data: undefined }),
          dataOmitted: hasData ? (row.erased ? 'forgotten' : '') : unasked,
          time: row.created_at,
        },
      })
      if (listed.bytes <= largest) return listed
    } catch (error) {
      problem = error
    }
    const id = eventId(service, row)
    if (!said.has(id))
      log.error({ err: problem, event: id }, 'an event is published without its data: see data_omitted')
    if (said.size < 1000) said.add(id)
    const dataOmitted = problem === undefined ? 'size' : 'unreadable'
    const shown = withReadablePlace(row)
    const event = { ...describeEnvelope(service, shown), data: undefined, dataOmitted, time: shown.created_at }
    return measured({ position, event })
  }

  async function listAll(rows: StoredEvent[], dataOf: EventTypes | undefined): Promise<Listed[]> {
    const isWanted = passing(dataOf?.eventTypes)
    const wanted = rows.filter(isWanted)
    const opened = (personal ? await orUnavailable(personal.decryptEvents(sql, wanted)) : wanted).values()
    return rows.map((row) => (isWanted(row) ? list(opened.next().value!, true) : list(row, false)))
  }

  const through = createFairSemaphore(size, overloaded)
  return (_context: unknown, request: ListEventsRequest, { deadline }: { deadline: number } = unhurried) =>
    through({ lane: request.filter?.organizationId ?? '', deadline }, () => answer(request))

  async function answer(request: ListEventsRequest): Promise<ListEventsResponse> {
    const filter = request.filter ?? everything
    if (request.countOnly) {
      const after = request.after ?? (await orUnavailable(findStart(sql, filter.since)))
      const counted = await orUnavailable(countBehind(sql, after, request.after ? undefined : filter.since))
      return { events: [], next: after, endReached: counted.behind === 0, ...counted }
    }
    const limit = Math.min(Math.max(request.limit, 1), 1000)
    if (request.fromEnd && !request.after)
      return { events: [], next: await orUnavailable(findEnd(sql, filter)), endReached: true }
    const known = request.after && recent?.after(request.after)
    if (recent) lookups.add(1, 'events', known ? 'hit' : 'miss')
    if (known) {
      const passing = known.filter((row) => passesFilter(filter, row))
      const events = fit(await listAll(passing.slice(0, limit), request.dataOf))
      const isAll = events.length === passing.length
      // There may be more in PostgreSQL: the next call looks there.
      return { events, next: isAll ? toPosition(known.at(-1)!) : events.at(-1)!.position, endReached: false }
    }
    const after = request.after ?? (await orUnavailable(findStart(sql, filter.since)))
    const { last, endReached } = await orUnavailable(look(sql, after, filter, window))
    if (last === after) return { events: [], next: last, endReached }
    const rows = await orUnavailable(read(sql, after, last, filter, limit))
    const events = fit(await listAll(rows, request.dataOf))
    const found = rows[0]?.found ?? 0
    const all = events.length === found && found < limit
    return { events, next: all ? last : events.at(-1)!.position, endReached: all && endReached }
  }
}

const unhurried = { deadline: Infinity }

const everything: EventFilter = {
  organizationId: '',
  aggregateTypes: [],
  aggregateIds: [],
  eventTypes: [],
  actors: [],
  since: undefined,
}

/** The `data_omitted` of an event whose data was not asked for. */
const unasked = 'unasked'

// Many events have few types.
function passing(eventTypes: string[] | undefined): (row: StoredEvent) => boolean {
  if (!eventTypes) return () => true
  const known = new Map<string, boolean>()
  return (row) => {
    const type = `${row.aggregate_type}.${row.type}`
    const passes = known.get(type) ?? eventTypes.some((wanted) => meansType(wanted, type))
    known.set(type, passes)
    return passes
  }
}

interface Listed {
  listed: ListedEvent
  bytes: number
}

// A small event is not encoded for its size, which costs more than all else of it. The longest encoding, of a list of
// numbers, has three times these bytes, so the answer stays below the limit of NATS all the same.
function measured(listed: ListedEvent): Listed {
  const { data } = listed.event!
  const characters = data === undefined ? 0 : JSON.stringify(data).length
  const isSmall = characters < 64 * 1024
  return { listed, bytes: isSmall ? 1000 + 2 * characters : ListedEvent.encode(listed).finish().length }
}

function fit(events: Listed[]): ListedEvent[] {
  let all = 0
  const over = events.findIndex(({ bytes }, index) => {
    all += bytes
    return index > 0 && all > mostBytes
  })
  return (over < 0 ? events : events.slice(0, over)).map(({ listed }) => listed)
}
