import { BriefMap } from '#lib/brief-map'
import { RosterError } from '#lib/errors'
import { createFairSemaphore } from '#lib/fair-semaphore'
import { countLimit } from '#lib/limits-hit'
import type { Log } from '#lib/log'

/** Does work after the response, so that the answer does not depend on it. */
export interface AfterResponse {
  /** Lanes are served round robin. Work that finds no place is dropped, and the log says so. */
  run(lane: string, work: () => Promise<void>): void
  /** Waits for all work. */
  stop(): Promise<void>
}

const [atOnce, waiting] = [8, 1000]

/** Opens a place for work that is done after the response. */
export function openAfterResponse(log: Log): AfterResponse {
  const through = createFairSemaphore({ atOnce, waiting }, full)
  const underWay = new BriefMap<Promise<void>, true>()
  return {
    run(lane, work) {
      const done = through({ lane }, work).catch((err: unknown) => {
        countLimit(err)
        log.warn({ err }, 'work after an answer failed')
      })
      underWay.set(done, true)
      void done.finally(() => underWay.delete(done))
    },
    async stop() {
      await Promise.all(underWay.keys())
    },
  }
}

function full() {
  return new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too much work waits.', { retryAfter: 1 })
}
