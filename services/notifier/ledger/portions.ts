import type { EventPosition, ListedEvent } from '#gen/roster/feed/v1/feed'
import { mailRows } from './mail-rows.ts'
import { type Receiver, webhookRows } from './webhook-rows.ts'

/** What one statement stores. An event of a quarter of a MiB for a hundred webhooks is several. */
const mostRows = 2000
const mostCharacters = 4 * 1024 * 1024

export interface Portion {
  wanted: ReturnType<typeof webhookRows>
  mails: ReturnType<typeof mailRows>
  /** How far the events are taken in with it; undefined: not even to where they begin. */
  until: EventPosition | undefined
}

/**
 * Divides what a page of events asks for, so that nobody's webhooks make a statement that PostgreSQL refuses: that page would come
 * again for ever, and nothing behind it. Who stops after any portion goes on from its `until` and loses nothing.
 */
export function* portions(
  events: ListedEvent[],
  receivers: Receiver[],
  was: EventPosition | undefined,
  next: EventPosition,
): Generator<Portion> {
  let portion: Portion = { wanted: [], mails: [], until: was }
  let characters = 0
  for (const { event, position } of events) {
    for (const row of webhookRows([event!], receivers)) {
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
