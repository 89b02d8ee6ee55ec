import { BriefMap } from '#lib/brief-map'
import type { Service } from '#lib/process'
import type { Log } from '#lib/log'

/** Milliseconds. */
const every = 5000
const most = 10_000

export interface HourlyUses<Use> {
  /** The use is stored some seconds later, so that no answer waits for it. */
  note(use: Use): void
}

interface Stored<Use> {
  /** What is noted, for the log. */
  what: string
  idOf(use: Use): string
  /** Stores the hour of these uses, in one statement. Returns how many milliseconds of the hour are left. */
  store(uses: Use[]): Promise<number>
}

/** Opens the notes of uses. They are of the hour, so each thing has a write in an hour, and a batch is one statement. */
export function openHourlyUses<Use>(log: Log, { what, idOf, store }: Stored<Use>): HourlyUses<Use> & Service {
  const waiting = new BriefMap<string, Use>()
  /** Until when nothing has to be written for an id, by `performance.now()`. */
  const stored = new BriefMap<string, number>()

  async function storeWaiting() {
    const uses = [...waiting.values()]
    if (uses.length === 0) return
    const began = performance.now()
    try {
      const left = await store(uses)
      for (const use of uses) {
        waiting.delete(idOf(use))
        remember(idOf(use), began + left)
      }
    } catch (err) {
      // They wait for the next time.
      log.warn({ err }, `uses of ${what} are not stored yet`)
    }
  }

  function remember(id: string, until: number) {
    stored.delete(id)
    stored.set(id, until)
    if (stored.size > most) stored.delete(stored.keys().next().value!)
  }

  let storing = Promise.resolve()
  const timer = setInterval(() => (storing = storing.then(storeWaiting)), every)
  timer.unref()
  return {
    note(use) {
      const id = idOf(use)
      if (performance.now() < (stored.get(id) ?? 0)) return
      if (waiting.size < most) waiting.set(id, use)
    },
    async stop() {
      clearInterval(timer)
      await storing.then(storeWaiting)
    },
  }
}
