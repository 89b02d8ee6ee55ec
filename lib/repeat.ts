import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from './process.ts'

export interface RepeatOptions {
  /** Works once. Answers `more` to go on at once, `done` to end, nothing to wait. */
  work(stopped: AbortSignal): Promise<'more' | 'done' | undefined | void>
  /** Milliseconds from the end of the work to the next time, unless somebody wakes it. */
  every: number
  /**
   * Milliseconds from an error to the next time, even if somebody wakes it: a server that is down is not asked at once.
   */
  retryAfter: number
  /** Reports an error of the work. After a stop it reports nothing: the stop itself makes work fail. */
  failed(error: Error): void
}

export interface Repeated extends Service {
  /** Ends the wait. During the work it spares the next wait instead: the work may have looked too early. */
  wake(): void
  /** Resolves once the work is `done` or stopped. Never rejects. */
  finished: Promise<void>
}

/** Repeats the work until it is `done` or stopped, never twice at a time. `stop` waits for the work under way. */
export function repeat({ work, every, retryAfter, failed }: RepeatOptions): Repeated {
  const stopped = new AbortController()
  let woken = Promise.withResolvers<void>()

  async function run() {
    while (!stopped.signal.aborted) {
      // Before the work: a wake-up that comes from now on may be about something that the work does not see.
      woken = Promise.withResolvers()
      try {
        const next = await work(stopped.signal)
        if (next === 'done') return
        if (next !== 'more' && !stopped.signal.aborted) await wait()
      } catch (error) {
        if (stopped.signal.aborted) return
        failed(error as Error)
        await pause(retryAfter, stopped.signal)
      }
    }
  }

  async function wait() {
    const timer = setTimeout(woken.resolve, every)
    await woken.promise
    clearTimeout(timer)
  }

  const finished = run()
  return {
    finished,
    wake: () => woken.resolve(),
    async stop() {
      stopped.abort()
      woken.resolve()
      await finished
    },
  }
}

/** Waits some milliseconds, or until stopped. */
export async function pause(milliseconds: number, stopped: AbortSignal): Promise<void> {
  if (milliseconds > 0) await sleep(milliseconds, undefined, { signal: stopped }).catch(() => {})
}
