import type { RosterError } from '../errors.ts'
import type { Waits } from '../health/waits.ts'
import type { Log } from '../log.ts'
import { pause, repeat } from '../repeat.ts'
import { type Sql, storeUnavailable } from './database.ts'
import { SeveralPrimaries } from './look-at-hosts.ts'
import { NoSession, refusalOf, refuseAll } from './no-session.ts'
import { proveSession, WrongSetting } from './prove-session.ts'

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
 * once that they are answered again. Shared sessions are refused until a restart, by these pools too: a pooler that
 * shares them may pass any proof by chance.
 */
export function watchSession({ url, service, log, waits, pools = [], every = 60_000 }: Watched): SessionWatch {
  let refusal: RosterError | undefined
  let isOver = false

  function lose(error: NoSession): void {
    isOver = true
    refusal = storeUnavailable(error)
    waits.end('SinglePrimary')
    for (const pool of pools) refuseAll(pool, error)
    log.error({ err: error }, 'all calls are refused until a restart')
  }

  // A transaction of the service may have found it.
  function lookAtPools(): void {
    const found = isOver ? undefined : pools.map(refusalOf).find((error) => error !== undefined)
    if (found) lose(found)
  }

  const looking = repeat({
    async work(stopped): Promise<'more' | 'done' | undefined> {
      if (isOver) return 'done'
      try {
        await proveSession(url, service, stopped)
        if (refusal && !isOver) {
          log.info('calls are answered again')
          refusal = undefined
        }
        waits.end('SinglePrimary')
        return undefined
      } catch (error) {
        if (error instanceof NoSession) {
          lose(error)
          return 'done'
        }
        const isReason = error instanceof SeveralPrimaries || error instanceof WrongSetting
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
  return {
    refusal() {
      lookAtPools()
      return refusal
    },
    stop: () => looking.stop(),
  }
}

interface Watched {
  url: string
  service: string
  log: Log
  waits: Waits
  /** The pools of the service. */
  pools?: Sql[]
  /** Milliseconds between two proofs. */
  every?: number
}
