import type { EventFilter } from '#gen/roster/feed/v1/feed'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from './cursor.ts'
import { type EventPage, type Feeds, readEvents } from './read-events.ts'
import type { Wakeups } from './wakeups.ts'

/** What the requests of the EventService have in common. */
interface EventRequest {
  cursor: string
  fromEnd: boolean
  filter?: EventFilter | undefined
  limit: number
}

const defaultLimit = 100
/** Milliseconds before its deadline at which a call is answered. */
const margin = 500

/**
 * The next events of the request; where there are none, once there are, or when `waitFor` milliseconds are over. Errors as of
 * `readEvents` and `readCursor`.
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
  // Noted before the first look: nothing falls between the two.
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
