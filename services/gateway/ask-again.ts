import { codes, RosterError } from '#lib/errors'
import type { Answered } from '#lib/rpc/call'
import type { Method } from '#lib/rpc/methods'
import { secondRequests } from './measures.ts'

/** Milliseconds without an answer after which the service is asked once more. */
const silentFor = 2000
/** One call in a hundred may be asked again, so that a slow service does not get twice the work. */
const earned = 0.01
const most = 10

/** How many calls may be asked again, as they earn it. */
export interface SecondRequests {
  /** Counts a call. */
  earn(): void
  /** Whether one more may be asked again. If so, it is counted. */
  take(): boolean
}

export function countSecondRequests(): SecondRequests {
  let left = most
  return {
    earn() {
      left = Math.min(most, left + earned)
    },
    take() {
      if (left < 1) return false
      left--
      return true
    },
  }
}

/**
 * Sends a request by `askOnce`, and a second one where no answer comes: NATS does not report that the process that took a
 * request was killed. The earlier answer counts. Only methods that are `repeatable` are asked again.
 */
export function askAgain(
  budget: SecondRequests,
  { reads, repeatable }: Pick<Method, 'reads' | 'repeatable'>,
  hasKey: boolean,
  askOnce: () => Promise<Answered>,
): Promise<Answered> {
  budget.earn()
  const first = askOnce()
  if (!repeatable || !(reads || hasKey)) return first
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const failures: unknown[] = []
  let asked = 1
  function failed(error: unknown) {
    failures.push(error)
    // While one is open, it may still have the answer.
    if (!isOpen(error)) reject(error)
    else if (failures.length === asked) reject(failures[0])
  }
  const timer = setTimeout(() => {
    const isAsked = budget.take()
    secondRequests.add(1, isAsked ? 'asked' : 'spared')
    if (!isAsked) return
    asked++
    askOnce().then(resolve, failed)
  }, silentFor)
  first.then(resolve, failed).finally(() => clearTimeout(timer))
  return promise
}

// It says nothing about the request itself, or that the first one still runs under the same Idempotency-Key.
function isOpen(error: unknown): boolean {
  return (
    error instanceof RosterError &&
    (error.code === codes.UNAVAILABLE || error.code === codes.DEADLINE_EXCEEDED || error.reason === 'REQUEST_UNDER_WAY')
  )
}
