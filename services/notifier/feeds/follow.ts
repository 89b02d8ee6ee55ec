import type { EventFilter } from '#gen/roster/feed/v1/feed'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from './cursor.ts'
import { type EventPage, type Feeds, readEvents } from './read-events.ts'
import type { Wakeups } from './wakeups.ts'

/** The common part of the EventService's requests. */
interface EventRequest {
  cursor: string
  fromEnd: boolean
  filter?: EventFilter | undefined
  limit: number
}

const defaultLimit = 100
/** Answers a call so many milliseconds before its deadline. */
const margin = 500

/**
 * Returns the next events for the request. If there are none, waits for the first, `waitFor` milliseconds at most.
 * Throws the errors of `readEvents` and `readCursor`.
 */
export async function follow(
  { feeds, wakeups }: { feeds: Feeds; wakeups: Wakeups },
  { cursor, fromEnd, filter, limit }: EventRequest,
  call: Call,
  waitFor: number,
) {
  const query = {
    cursor: cursor === '' ? undefined : readCursor(cursor),
    fromEnd,
    filter,
    limit: limit || defaultLimit,
  }
  const until = Math.min(Date.now() + waitFor, call.deadline - margin)
  const answer = (page: EventPage) => ({ ...page, cursor: writeCursor(page.cursor) })
  if (Date.now() >= until) return answer(await readEvents(feeds, query, call))
  // Before the first look: no event falls between the two.
  const waiting = await wakeups.open(filter)
  try {
    let page = await readEvents(feeds, query, call)
    while (page.events.length === 0 && page.endReached && Date.now() < until) {
      const services = await waiting.next(until)
      if (services.length === 0) break
      const woken = Object.fromEntries(services.map((name) => [name, feeds[name]!]))
      page = await readEvents(woken, { ...query, cursor: page.cursor }, call)
    }
    return answer(page)
  } finally {
    waiting.close()
  }
}
