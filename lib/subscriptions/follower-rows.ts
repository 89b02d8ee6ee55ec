import type { EventPosition } from '#gen/roster/feed/v1/feed'
import type { Sql } from '../database/database.ts'
import { type Place, toPosition } from './feed-rows.ts'

/** The place that a follower has reached; undefined before its first event. */
export async function readPlace(sql: Sql, follower: string): Promise<EventPosition | undefined> {
  const [row] = await sql<Place[]>`
    select transaction_id::text, position from followers where name = ${follower}
  `
  return row && toPosition(row)
}

/** Moves a follower from one place to another. Returns whether it still was at the first. */
export async function savePlace(
  sql: Sql,
  follower: string,
  from: EventPosition | undefined,
  to: EventPosition,
): Promise<boolean> {
  if (from?.transactionId === to.transactionId && from.position === to.position) return true
  const moved = await sql`
    insert into followers as was (name, transaction_id, position)
    values (${follower}, ${String(to.transactionId)}::xid8, ${to.position})
    on conflict (name) do update set transaction_id = excluded.transaction_id, position = excluded.position
    where was.transaction_id = ${from ? String(from.transactionId) : null}::xid8
      and was.position = ${from ? from.position : null}
  `
  return moved.count === 1
}

/** Parks an event for a follower as a dead letter, or parks it again. `pause` is in milliseconds. */
export async function addDeadLetter(
  sql: Sql,
  follower: string,
  { transactionId, position }: EventPosition,
  { tries, pause, reason }: { tries: number; pause: number; reason: unknown },
): Promise<void> {
  const text = String(reason).slice(0, longestReason).replaceAll('\0', '')
  await sql`
    insert into parked_for_followers (follower, transaction_id, position, tries, next_try_at, reason)
    values (
      ${follower}, ${String(transactionId)}::xid8, ${position}, ${tries}, roster_now() + ${pause} * interval '1 millisecond', ${text}
    )
    on conflict (follower, position) do update
    set tries = excluded.tries, next_try_at = excluded.next_try_at, reason = excluded.reason
  `
}

const longestReason = 1000

/** Dead letters that are due for another try. */
export async function dueDeadLetters(
  sql: Sql,
  follower: string,
): Promise<{ position: EventPosition; tries: number }[]> {
  const rows = await sql<(Place & { tries: number })[]>`
    select transaction_id::text, position, tries from parked_for_followers
    where follower = ${follower} and next_try_at <= roster_now()
    order by next_try_at limit 20
  `
  return rows.map((row) => ({ position: toPosition(row), tries: row.tries }))
}

export async function removeDeadLetter(sql: Sql, follower: string, { position }: EventPosition): Promise<void> {
  await sql`delete from parked_for_followers where follower = ${follower} and position = ${position}`
}
