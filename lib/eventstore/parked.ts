import type { StoredEvent } from '../events/stored-event.ts'
import type { Transaction } from './database.ts'

/** An event that neither broker nor proto/ will ever take, and why. */
export interface Refused {
  event: StoredEvent
  reason: Error
}

const longestReason = 1000

/** Notes events that were refused for good; gives those that were not noted yet. */
export async function saveParked(transaction: Transaction, refused: Refused[]): Promise<Refused[]> {
  if (refused.length === 0) return []
  const rows = refused.map(({ event, reason }) => ({
    position: event.position,
    reason: reason.message.slice(0, longestReason).replaceAll('\0', ''),
  }))
  const noted = await transaction<{ position: string }[]>`
    insert into parked_events ${transaction(rows)} on conflict do nothing returning position
  `
  const positions = new Set(noted.map(({ position }) => position))
  return refused.filter(({ event }) => positions.has(event.position))
}

/** Takes back the note of events that were taken in the end, such as when they were published anew. */
export function unpark(transaction: Transaction, added: { position: string }[]) {
  return transaction`delete from parked_events where position = any(${added.map(({ position }) => position)}::bigint[])`
}

/**
 * Notes what of the page behind the cursor the stream has. The cursor stays until all of it is there: whoever goes on leaves out what
 * is noted, and looks for the rest before sending it again.
 */
export function noteTaken(transaction: Transaction, added: { position: string; seq: number }[]) {
  const taken = Object.fromEntries(added.map(({ position, seq }) => [position, seq]))
  return transaction`update published set taken = ${JSON.stringify(taken)}::text::jsonb, in_doubt = true`
}
