const second = 1000
const minute = 60 * second
const hour = 60 * minute
const waits = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour]
const longestWished = hour
/** A webhook as a whole uses so many of the waits: a receiver that answers again is found within half an hour. */
const rests = 6

export interface Failure {
  /** The number of tries, this one included. */
  attempts: number
  queuedAt: Date
  /** Milliseconds until the next try that the receiver asked for. */
  wished?: number | undefined
}

/**
 * Returns the milliseconds until the next try: from a second to four hours, less up to half of it by chance. A receiver
 * may ask for longer, an hour at most. The last try falls on the end of the time. Undefined: give up.
 */
export function retryDelay(
  { attempts, queuedAt, wished = 0 }: Failure,
  retryFor: number,
  now: number,
  chance = Math.random(),
): number | undefined {
  const left = queuedAt.getTime() + retryFor - now
  if (left <= 0) return undefined
  const wait = waitAfter(attempts, chance)
  return Math.round(Math.min(left, Math.max(wait, Math.min(wished, longestWished))))
}

/** Returns the milliseconds for which a webhook rests after so many timeouts in a row: half an hour at most. */
export function restAfter(timeouts: number, chance = Math.random()): number {
  return Math.round(waitAfter(Math.min(timeouts, rests), chance))
}

function waitAfter(times: number, chance: number): number {
  return waits[Math.min(times, waits.length) - 1]! * (1 + chance) * 0.5
}
