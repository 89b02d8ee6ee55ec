import type { RosterError } from '../errors.ts'
import type { Log } from '../log.ts'
import { repeat } from '../repeat.ts'
import { storeUnavailable } from './database.ts'
import { NoSession, proveSession } from './prove-session.ts'

/** Looks whether connections still are sessions of their own. */
export interface SessionWatch {
  /** The error of every call while they are not. */
  refusal(): RosterError | undefined
  stop(): Promise<void>
}

/**
 * Proves again and again that connections are sessions: an operator may put a pooler in between while the service runs.
 * The log says once that they are not, and once that they are again.
 */
export function watchSession({ url, service, log, every = 60_000 }: Watched): SessionWatch {
  let refusal: RosterError | undefined
  const looking = repeat({
    async work(stopped) {
      try {
        await proveSession(url, service, stopped)
        if (refusal) log.info('connections are sessions of PostgreSQL again, and calls are answered')
        refusal = undefined
      } catch (error) {
        if (!(error instanceof NoSession)) throw error
        if (!refusal) log.error({ err: error }, 'all calls are refused')
        refusal = storeUnavailable(error)
      }
    },
    every,
    retryAfter: every,
    // A database that is away shows nothing of this, and others report that it is away.
    failed: (error) => log.debug({ err: error }, 'whether connections are sessions cannot be seen'),
  })
  return { refusal: () => refusal, stop: () => looking.stop() }
}

interface Watched {
  url: string
  service: string
  log: Log
  /** Milliseconds between two proofs. */
  every?: number
}
