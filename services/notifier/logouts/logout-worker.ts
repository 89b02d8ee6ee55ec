import { randomUUID } from 'node:crypto'
import { BriefMap } from '#lib/brief-map'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { queueLogouts } from './ended-sessions.ts'
import { takeLogouts, type TakenLogout } from './logout-queue.ts'
import { sendLogout, type SendLogoutOptions } from './send-logout.ts'

/** The most under way at a time in this process. */
const concurrency = 50

export interface LogoutWorker extends Service {
  /** Sessions ended: looks at once. */
  wake(): void
}

/**
 * Tells applications of the end of sessions. PostgreSQL holds all that is to be done, so a look now and then finds what
 * another process left; Redis has no part in it.
 */
export function startLogoutWorker(options: SendLogoutOptions & { every: number }): LogoutWorker {
  const { sql, users, log, within, every } = options
  const abandoned = new AbortController()
  const failed = throttled(log, 'telling applications of ended sessions failed and tries again')
  const underWay = new BriefMap<Promise<void>, TakenLogout>()
  const looks = repeat({ work: look, every, retryAfter: 1000, failed })

  async function look(stopped: AbortSignal) {
    // What is queued goes on, even if users does not say what else there is.
    const more = await queueLogouts(sql, users, randomUUID()).catch((error: unknown) => {
      failed(error as Error)
      return false
    })
    const most = concurrency - underWay.size
    const taken = most > 0 && !stopped.aborted ? await takeLogouts(sql, most, within) : []
    for (const logout of taken) begin(logout)
    return more || (taken.length > 0 && taken.length === most) ? 'more' : undefined
  }

  function begin(logout: TakenLogout) {
    const sent = sendLogout(options, logout, abandoned.signal)
      .then((delay = 0) => void setTimeout(looks.wake, delay).unref())
      .catch(failed)
      .finally(() => underWay.delete(sent))
    underWay.set(sent, logout)
  }

  return {
    wake: looks.wake,
    async stop() {
      await looks.stop()
      // Another worker tries again what has no answer yet.
      abandoned.abort()
      await Promise.all(underWay.keys())
    },
  }
}
