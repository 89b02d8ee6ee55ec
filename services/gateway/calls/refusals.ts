import type { Refusal } from '#gen/roster/grants/v1/internal_service'
import type { InternalServiceDefinition } from '#gen/roster/grants/v1/internal_service'
import type { Client } from '#lib/rpc/call'

/** Notes refused calls, so that grants can explain them. What is too much is dropped, and nobody waits. */
export interface Refusals {
  note(refusal: Refusal): void
  stop(): void
}

/** Refused calls of one caller that wait, callers with some, and calls that are told at a time. */
const [mostOfCaller, mostCallers, mostAtOnce] = [10, 1000, 200]
/** Milliseconds between two messages, and until the first. */
const [every, soon] = [1000, 50]
const timeout = 5_000

/**
 * Tells grants of refused calls, a message a second at most. Of many calls of one caller it tells the newest alone, and
 * callers take turns. Where grants does not take them, they are lost.
 */
export function createRefusals(grants: Client<typeof InternalServiceDefinition, 'recordRefusals'>): Refusals {
  const waiting = new Map<string, Refusal[]>()
  let timer: NodeJS.Timeout | undefined
  let toldAt = -every

  async function tell() {
    toldAt = performance.now()
    const refusals = take(waiting)
    const call = { requestId: '', deadline: Date.now() + timeout }
    await grants.recordRefusals({ refusals }, call).catch(() => {})
    timer = undefined
    if (waiting.size > 0) schedule()
  }

  function schedule() {
    timer ??= setTimeout(() => void tell(), Math.max(soon, toldAt + every - performance.now()))
  }

  return {
    note(refusal) {
      const own = waiting.get(refusal.userId)
      if (own === undefined && waiting.size >= mostCallers) return
      if (own === undefined) waiting.set(refusal.userId, [refusal])
      else if (own.push(refusal) > mostOfCaller) own.shift()
      schedule()
    },
    stop() {
      waiting.clear()
      clearTimeout(timer)
    },
  }
}

// One of each caller in turn, its newest first. A caller that has more goes to the end, where this loop finds it again.
function take(waiting: Map<string, Refusal[]>): Refusal[] {
  const taken: Refusal[] = []
  for (const [userId, own] of waiting) {
    if (taken.length === mostAtOnce) break
    taken.push(own.pop()!)
    waiting.delete(userId)
    if (own.length > 0) waiting.set(userId, own)
  }
  return taken
}
