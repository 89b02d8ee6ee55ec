import { setTimeout as sleep } from 'node:timers/promises'
import { compare, type Stored, type Wrong } from './compare.ts'
import { followSearch, followStream, type Reader } from './follow.ts'
import type { Inspection } from './inspect.ts'
import type { Called } from './running.ts'
import { startWebhook } from './webhook.ts'

/** The readers that get the events of a run from Roster itself, through all faults. */
export interface Readers {
  /** Waits until the readers of the API have every stored event. Returns the readers that do not. */
  caughtUp(): Promise<string[]>
  /** Waits for the last events. Returns the faults of the whole run. */
  check(): Promise<{ webhook: Wrong[]; follow: Wrong[] }>
  /** The times when an event reached the webhook again, in milliseconds. */
  again: number[]
  stop(): Promise<void>
}

const followedWithin = 30_000
// The deliveries of a killed notifier wait 30 s.
const sentWithin = 60_000

/** Starts the readers. From now on, the webhook must miss no stored event. The other readers must miss none at all. */
export async function startReaders(running: Called, inspection: Inspection): Promise<Readers> {
  const webhook = await startWebhook(running)
  const earlier = new Set((await inspection.stored()).map(({ id }) => id))
  const isLater = ({ id }: { id: string }) => !earlier.has(id)
  const followers = [followSearch(running), followStream(running)]
  return {
    again: webhook.again,
    async caughtUp() {
      const stored = await inspection.stored()
      const missing = await Promise.all(followers.map((reader) => missingIn(reader, stored, followedWithin)))
      return followers.flatMap(({ where }, index) =>
        missing[index] === 0 ? [] : [`${missing[index]} events are not ${where} after ${followedWithin} ms`],
      )
    },
    async check() {
      const before = await inspection.stored()
      const sent = before.filter(isLater)
      await Promise.all([
        missingIn(webhook, sent, sentWithin),
        ...followers.map((reader) => missingIn(reader, before, followedWithin)),
      ])
      const [came, read] = [webhook.seen().filter(isLater), followers.map((reader) => reader.seen().slice())]
      const after = await inspection.stored()
      return {
        webhook: [...webhook.wrong, ...compare(webhook.where, sent, came, after.filter(isLater))],
        follow: followers.flatMap(({ where, wrong }, index) => [
          ...wrong,
          ...compare(where, before, read[index]!, after),
        ]),
      }
    },
    async stop() {
      for (const reader of [webhook, ...followers]) await reader.stop()
    },
  }
}

// The number of these events that the reader does not get in time.
async function missingIn(reader: Reader, stored: Stored[], within: number): Promise<number> {
  for (const end = Date.now() + within; ; await sleep(50)) {
    const seen = new Set(reader.seen().map(({ id }) => id))
    const missing = stored.filter(({ id }) => !seen.has(id)).length
    if (missing === 0 || Date.now() > end) return missing
  }
}
