import type { Outcome } from '../../events/publish.ts'
import type { StoredEvent } from '../../events/stored-event.ts'
import type { Transaction } from '../database.ts'
import { eventColumns } from '../event-page.ts'
import type { Personal } from '../personal/personal.ts'
import { parkedFor, unpark } from './parked.ts'

const most = 50

/** An event that was sent again, and what became of it. */
export interface Retried {
  event: StoredEvent
  outcome: Outcome
}

/** Sends parked events again that somebody asked another try for. Later events of their aggregates may be ahead. */
export async function retryParked(
  transaction: Transaction,
  personal: Personal | undefined,
  publish: (events: StoredEvent[]) => Promise<Outcome[]>,
): Promise<Retried[]> {
  const stored = await transaction<StoredEvent[]>`
    select ${eventColumns(transaction)} from events
    where position in (select position from parked_events where retry order by position limit ${most})
    order by position
  `
  const events = personal ? await personal.openEvents(transaction, stored) : stored
  const outcomes = await publish(events)
  return events.map((event, index) => ({ event, outcome: outcomes[index]! }))
}

/** Notes the outcomes. An event that nobody took for lack of an answer is tried again at the next turn. */
export async function settleRetried(transaction: Transaction, retried: Retried[]): Promise<void> {
  const taken = retried.flatMap(({ event, outcome }) => ('ack' in outcome ? [event] : []))
  if (taken.length > 0) await unpark(transaction, taken)
  for (const { event, outcome } of retried)
    if ('refused' in outcome)
      await transaction`
        update parked_events set retry = false, reason = ${parkedFor(outcome.refused)}, parked_at = roster_now()
        where position = ${event.position}
      `
}
