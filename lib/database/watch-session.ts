import type { RosterError } from '../errors.ts'
import type { Waits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { pause, repeat } from '../repeat.ts'
import { storeUnavailable } from './database.ts'
import { SeveralPrimaries } from './look-at-hosts.ts'
import { NoSession, proveSession, WrongSetting } from './prove-session.ts'

/** Milliseconds to the next look while all calls are refused. */
const refusedFor = 2000

/** Looks whether connections still are sessions of their own, of the only PostgreSQL that takes writes. */
export interface SessionWatch {
  /** The error of every call while they are not. */
  refusal(): RosterError | undefined
  stop(): Promise<void>
}

/**
 * Proves again and again that connections are sessions, and of the only host that takes writes: an operator may put a
 * pooler in between while the service runs, and start a former primary. The log says once why calls are refused, and
 * once that they are answered again.
 */
export function watchSession({ url, service, log, waits, every = 60_000 }: Watched): SessionWatch {
  let refusal: RosterError | undefined
  const looking = repeat({
    async work(stopped): Promise<'more' | undefined> {
      try {
        await proveSession(url, service, stopped)
        if (refusal) log.info('calls are answered again')
        refusal = undefined
        waits.end('SinglePrimary')
        return undefined
      } catch (error) {
        const isReason = [NoSession, SeveralPrimaries, WrongSetting].some((kind) => error instanceof kind)
        if (!isReason && !refusal) throw error
        if (!refusal) log.error({ err: error }, 'all calls are refused')
        if (isReason) refusal = storeUnavailable(error)
        if (error instanceof SeveralPrimaries) waits.begin('SinglePrimary', error)
        else if (isReason) waits.end('SinglePrimary')
        await pause(Math.min(every, refusedFor), stopped)
        return 'more'
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
  waits: Waits
  /** Milliseconds between two proofs. */
  every?: number
}
