import type { StreamState } from '../events/stream.ts'
import { readNow, type Sql, type Transaction } from '../database/database.ts'
import { type PageRow, readPage } from '../eventstore/event-page.ts'

/** Events in a page, at most. */
export const pageSize = 1000
/** Bytes of payloads in a page. The last event may exceed it. */
const mostBytes = 4 * 1024 * 1024

/** Which event is at a place of the stream: `published.stream_mark`. */
export interface NotedMark {
  generation: number
  sequence: number
  subject: string
}

/** Where the stream has events that the database lacks. */
export interface Ahead {
  /** The place of the last event that the database published, and the last place where it may lack one. */
  from: number
  to: number
  /** The position of the last event before the lost ones. */
  lastPosition: number
  /** Whether the organizations that lost events were told. */
  isAnnounced: boolean
  /** When it was noticed, in RFC 3339. */
  since: string
}

/** How far the events are published: the row of the table `published`. */
export interface Published {
  transaction_id: string
  position: string
  stream_created: string
  stream_sequence: string | null
  stream_mark: NotedMark | null
  stream_floor: string
  published_at: Date
  generation: number
  message_key: string
  taken: Record<string, number>
  in_doubt: boolean
  ahead: Ahead | null
  /** The stream was not compared with the events yet on this server. */
  toCompare: boolean
  deadLetters: number
  retried: number
}

/** Whether there is something to publish, and how many dead letters there are. */
export async function findUnpublished(sql: Sql): Promise<{ hasWork: boolean; deadLetters: number }> {
  const [found] = await sql<[{ hasWork: boolean; deadLetters: number }]>`
    select (select count(*)::int from parked_events) as "deadLetters",
      exists (
        select from events where (transaction_id, position) > (select transaction_id, position from published)
      ) or exists (select from parked_events where retry) as "hasWork"
  `
  return found
}

/** The next settled events after the cursor, or after this event: no event can appear before them any more. */
export function page(sql: Sql | Transaction, last?: PageRow) {
  const place = last
    ? sql`(${last.transaction_id}::xid8, ${last.position}::bigint)`
    : // With a subquery, unlike a join, the index scan starts at the cursor under any statistics.
      sql`(select transaction_id, position from published)`
  const where = sql`(transaction_id, position) > ${place} and transaction_id < settled_below()`
  return readPage(sql, where, pageSize, mostBytes)
}

/**
 * Sets the cursor back to the oldest event that is still young enough for the stream. A cursor that is already earlier
 * stays. A stream that was given nothing yet has lost nothing. Checkpoints of that age wait for the stream again.
 */
export async function setBack(transaction: Transaction, { created, maxAge, last }: StreamState): Promise<void> {
  const since = maxAge === Infinity ? new Date(0) : new Date((await readNow(transaction)).getTime() - maxAge)
  await transaction`
    with too_old as (
      select transaction_id, position from events where created_at < ${since}
      order by events.transaction_id desc, events.position desc limit 1
    ), start as (
      select transaction_id, position from too_old
      union all select '0', 0 where not exists (select from too_old)
    )
    update published p set
      (transaction_id, position) = (
        select transaction_id, position from (
          select transaction_id, position from start union all select p.transaction_id, p.position
        ) candidates
        order by candidates.transaction_id, candidates.position limit 1
      ),
      stream_created = ${created},
      stream_sequence = null,
      stream_mark = null,
      stream_floor = ${last},
      taken = '{}',
      in_doubt = false,
      generation = generation + (position > 0)::int
  `
  await transaction`update audit_checkpoints set published = false where published and signed_at >= ${since}`
}
