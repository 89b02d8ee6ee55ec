import type { EventPosition, ListedEvent } from '#gen/roster/feed/v1/feed'
import { mailRows } from './mail-rows.ts'
import { type Receiver, webhookRows } from './webhook-rows.ts'

/**
 * The most that one statement stores. An event of a quarter of a MiB for a hundred webhooks needs several statements.
 */
const mostRows = 2000
const mostCharacters = 4 * 1024 * 1024

export interface Portion {
  wanted: ReturnType<typeof webhookRows>
  mails: ReturnType<typeof mailRows>
  /** The place up to which events are taken in with this portion. Undefined: before the first event. */
  until: EventPosition | undefined
}

/**
 * Divides the rows of a page of events, so that no organization's webhooks can make a statement too large for
 * PostgreSQL. Such a page would come again for ever, and no event behind it would be taken in. A notifier that stops
 * after any portion goes on from its `until` and loses nothing.
 */
export function* portions(
  events: ListedEvent[],
  receivers: Receiver[],
  was: EventPosition | undefined,
  next: EventPosition,
  addedAfter = new Date(0),
): Generator<Portion> {
  let portion: Portion = { wanted: [], mails: [], until: was }
  let characters = 0
  for (const { event, position } of events) {
    for (const row of webhookRows([event!], receivers, addedAfter)) {
      const isFull = portion.wanted.length === mostRows || characters + row.payload.length > mostCharacters
      if (isFull && portion.wanted.length > 0 && portion.until) {
        yield portion
        portion = { wanted: [], mails: [], until: portion.until }
        characters = 0
      }
      portion.wanted.push(row)
      characters += row.payload.length
    }
    portion.mails.push(...mailRows([event!]))
    portion.until = position
  }
  yield { ...portion, until: next }
}
