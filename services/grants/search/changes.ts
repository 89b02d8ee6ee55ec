import type { Event } from '#gen/roster/feed/v1/feed'
import { orUnavailable } from '#lib/database/database'
import { eventColumns } from '#lib/eventstore/event-page'
import { showChange } from '#lib/events/show-change'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from '#lib/search/cursor'
import { cutPage, defaultLimit } from '#lib/search/search'
import type { Context } from '../context.ts'

interface Asked {
  method: string
  request: { limit: number; cursor: string }
  call: Call
}

const theEnd = String(2n ** 63n - 1n)

/** A page of the history of an object, the newest event first. INVALID_ARGUMENT CURSOR_INVALID; UNAVAILABLE. */
export async function findChanges(
  { sql, config }: Context,
  { type, id }: { type: string; id: string },
  { method, request, call }: Asked,
): Promise<{ changes: Event[]; nextCursor: string }> {
  const keys = config.ROSTER_ENCRYPTION_KEY
  const asked = { method, request: { ...request, withTotal: false }, call }
  const [before = theEnd] = readCursor(keys, asked) ?? []
  const limit = request.limit || defaultLimit
  const read = await orUnavailable(sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events
    where aggregate_type = ${type} and aggregate_id = ${id} and sequence < ${before}
    order by sequence desc limit ${limit + 1}
  `)
  const page = cutPage(read.slice(0, limit))
  const last = page.at(-1)?.sequence
  return {
    changes: page.map((row) => showChange('grants', row)),
    nextCursor: page.length === read.length ? '' : writeCursor(keys, asked, [String(last)]),
  }
}
