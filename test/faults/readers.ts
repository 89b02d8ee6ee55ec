import { setTimeout as sleep } from 'node:timers/promises'
import { compare, type Stored, type Wrong } from './compare.ts'
import { followSearch, followStream, type Reader } from './follow.ts'
import type { Inspection } from './inspect.ts'
import type { Running } from './running.ts'
import { startWebhook } from './webhook.ts'

/** Who gets the events of a run from Roster itself, through all that happens. */
export interface Readers {
  /** Waits until who follows the API has what is stored; gives who has not. */
  caughtUp(): Promise<string[]>
  /** Waits for what is still to come; gives what was wrong in the whole run. */
  check(): Promise<{ webhook: Wrong[]; follow: Wrong[] }>
  /** When something came to the webhook again, in milliseconds. */
  again: number[]
  stop(): Promise<void>
}

const followedWithin = 30_000
// What a killed notifier was sending waits 30 s.
const sentWithin = 60_000

/** Begins to read; nothing that is stored from now on may be missed by the webhook, nothing at all by the others. */
export async function startReaders(running: Running, inspection: Inspection): Promise<Readers> {
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

// How many of these it has not got within the time.
async function missingIn(reader: Reader, stored: Stored[], within: number): Promise<number> {
  for (const end = Date.now() + within; ; await sleep(50)) {
    const seen = new Set(reader.seen().map(({ id }) => id))
    const missing = stored.filter(({ id }) => !seen.has(id)).length
    if (missing === 0 || Date.now() > end) return missing
  }
}
