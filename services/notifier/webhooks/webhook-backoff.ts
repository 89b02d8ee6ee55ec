const second = 1000
const minute = 60 * second
const hour = 60 * minute
const waits = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour]
const longestWished = hour
/** How many of the waits a webhook as a whole has: somebody who answers again is found within half an hour. */
const rests = 6

export interface Failure {
  /** How often it was tried, this time included. */
  attempts: number
  queuedAt: Date
  /** Milliseconds that the receiver asked for. */
  wished?: number | undefined
}

/**
 * Milliseconds until the next try: from a second to four hours, between half and all of that by chance; longer where the
 * receiver wishes so, but an hour at most. The last try falls on the end of the time. Undefined: it is over.
 */
export function retryDelay(
  { attempts, queuedAt, wished = 0 }: Failure,
  retryFor: number,
  now = Date.now(),
  chance = Math.random(),
): number | undefined {
  const left = queuedAt.getTime() + retryFor - now
  if (left <= 0) return undefined
  const wait = waitAfter(attempts, chance)
  return Math.round(Math.min(left, Math.max(wait, Math.min(wished, longestWished))))
}

/** Milliseconds for which a webhook is left alone that did not answer in time so often, one after the other: half an hour at most. */
export function restAfter(timeouts: number, chance = Math.random()): number {
  return Math.round(waitAfter(Math.min(timeouts, rests), chance))
}

function waitAfter(times: number, chance: number): number {
  return waits[Math.min(times, waits.length) - 1]! * (1 + chance) * 0.5
}
