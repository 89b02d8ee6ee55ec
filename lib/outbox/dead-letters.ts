import type { Outcome } from './publish.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import type { Log } from '../log.ts'
import type { Transaction } from '../database/database.ts'
import { eventColumns } from '../eventstore/event-page.ts'
import type { Personal } from '../encryption/personal.ts'

/** An event that the broker or proto/ will always refuse, and the reason. */
export interface Refused {
  event: StoredEvent
  reason: Error
}

const longestReason = 1000

/** Stores events that were refused for good as dead letters, and logs each once. */
export async function addDeadLetters(transaction: Transaction, log: Log, refused: Refused[]): Promise<void> {
  if (refused.length === 0) return
  const rows = refused.map(({ event, reason }) => ({
    position: event.position,
    reason: storedReason(reason),
  }))
  const stored = await transaction<{ position: string }[]>`
    insert into parked_events (position, reason, parked_at)
    select position, reason, roster_now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (position bigint, reason text)
    on conflict do nothing returning position
  `
  const positions = new Set(stored.map(({ position }) => position))
  for (const { event, reason } of refused) {
    const { position, aggregate_type, aggregate_id, sequence, type } = event
    if (!positions.has(position)) continue
    log.error(
      { err: reason, position, aggregate_type, aggregate_id, sequence, type },
      'an event was refused for good: it is a dead letter, and the ones behind it go on',
    )
  }
}

function storedReason(reason: Error): string {
  return reason.message.slice(0, longestReason).replaceAll('\0', '')
}

/** Deletes the dead letters that the stream took in the end, for example when they were published anew. */
export function removeDeadLetters(transaction: Transaction, added: { position: string }[]) {
  return transaction`delete from parked_events where position = any(${added.map(({ position }) => position)}::bigint[])`
}

/**
 * Stores which events of the current page the stream already has. The cursor stays until the stream has the whole
 * page. The next tick skips these events, and looks for each other event before it sends it again.
 */
export function storeTaken(transaction: Transaction, added: { position: string; seq: number }[]) {
  const taken = Object.fromEntries(added.map(({ position, seq }) => [position, seq]))
  return transaction`update published set taken = ${JSON.stringify(taken)}::text::jsonb, in_doubt = true`
}

const most = 50

/** An event that was sent again, and what became of it. */
export interface Retried {
  event: StoredEvent
  outcome: Outcome
}

/** Sends dead letters again that somebody asked another try for. Later events of their aggregates may be ahead. */
export async function retryDeadLetters(
  transaction: Transaction,
  personal: Personal | undefined,
  publish: (events: StoredEvent[]) => Promise<Outcome[]>,
): Promise<Retried[]> {
  const stored = await transaction<StoredEvent[]>`
    select ${eventColumns(transaction)} from events
    where position in (select position from parked_events where retry order by position limit ${most})
    order by position
  `
  const events = personal ? await personal.decryptEvents(transaction, stored) : stored
  const outcomes = await publish(events)
  return events.map((event, index) => ({ event, outcome: outcomes[index]! }))
}

/** Notes the outcomes. An event without an answer is tried again at the next tick. */
export async function settleRetried(transaction: Transaction, retried: Retried[]): Promise<void> {
  const taken = retried.flatMap(({ event, outcome }) => ('ack' in outcome ? [event] : []))
  if (taken.length > 0) await removeDeadLetters(transaction, taken)
  for (const { event, outcome } of retried)
    if ('refused' in outcome)
      await transaction`
        update parked_events set retry = false, reason = ${storedReason(outcome.refused)}, parked_at = roster_now()
        where position = ${event.position}
      `
}
