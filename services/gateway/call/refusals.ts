import type { Refusal } from '#gen/roster/grants/v1/internal_service'
import type { InternalServiceDefinition } from '#gen/roster/grants/v1/internal_service'
import type { Client } from '#lib/rpc/call'

/** Records refused calls, so that grants can explain them. What is too much is dropped, and no call waits. */
export interface Refusals {
  /** `home`: the organization of the caller. The one that the call acted in may be of the caller's choice. */
  record(refusal: Refusal, home: string): void
  stop(): void
}

/** The refused calls of an organization's callers that wait, by the caller. */
type Callers = Map<string, Refusal[]>

/** Refused calls of one caller that wait, callers with some, and calls that are sent at a time. */
const [mostOfCaller, mostCallers, mostAtOnce] = [10, 1000, 200]
/** Milliseconds between two messages, and until the first. */
const [every, soon] = [1000, 50]
const timeout = 5_000

/**
 * Sends refused calls to grants, a message a second at most. Of many calls of one caller it sends the newest alone.
 * Organizations are served round robin, and so are the callers within them. Of too many callers, the last one of the
 * organization with the most is dropped. Where grants does not take them, calls are lost.
 */
export function createRefusals(grants: Client<typeof InternalServiceDefinition, 'recordRefusals'>): Refusals {
  const waiting = new Map<string, Callers>()
  let callers = 0
  let timer: NodeJS.Timeout | undefined
  let sentAt = -every

  async function send() {
    sentAt = performance.now()
    const refusals = take()
    const call = { requestId: '', deadline: Date.now() + timeout }
    await grants.recordRefusals({ refusals }, call).catch(() => {})
    timer = undefined
    if (waiting.size > 0) schedule()
  }

  function schedule() {
    timer ??= setTimeout(() => void send(), Math.max(soon, sentAt + every - performance.now()))
  }

  // One call of each organization. An organization that has more goes to the end, where this loop finds it again.
  function take(): Refusal[] {
    const taken: Refusal[] = []
    for (const [home, own] of waiting) {
      if (taken.length === mostAtOnce) break
      const count = own.size
      taken.push(takeOne(own))
      callers += own.size - count
      waiting.delete(home)
      if (own.size > 0) waiting.set(home, own)
    }
    return taken
  }

  function dropOne() {
    const [home, largest] = [...waiting].reduce((one, other) => (other[1].size > one[1].size ? other : one))
    largest.delete([...largest.keys()].at(-1)!)
    if (largest.size === 0) waiting.delete(home)
    callers--
  }

  return {
    record(refusal, home) {
      const callersOf = waiting.get(home) ?? new Map<string, Refusal[]>()
      waiting.set(home, callersOf)
      const own = callersOf.get(refusal.userId)
      if (own === undefined) {
        callersOf.set(refusal.userId, [refusal])
        if (++callers > mostCallers) dropOne()
      } else if (own.push(refusal) > mostOfCaller) own.shift()
      schedule()
    },
    stop() {
      waiting.clear()
      callers = 0
      clearTimeout(timer)
    },
  }
}

// The newest call of the caller who waited longest.
function takeOne(callers: Callers): Refusal {
  const [userId, own] = callers.entries().next().value!
  const newest = own.pop()!
  callers.delete(userId)
  if (own.length > 0) callers.set(userId, own)
  return newest
}
