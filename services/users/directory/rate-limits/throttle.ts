import { RosterError } from '#lib/errors'

/**
 * Throws RESOURCE_EXHAUSTED with the seconds to wait where the window, in seconds, holds `most` of the times. Times are
 * RFC 3339, oldest first.
 */
export function throttle(times: string[], most: number, window: number, now: Date, reason: string): void {
  const inWindow = times.map((time) => Date.parse(time)).filter((time) => time > now.getTime() - window * 1000)
  if (inWindow.length < most) return
  const free = inWindow[inWindow.length - most]! + window * 1000
  throw new RosterError('RESOURCE_EXHAUSTED', reason, 'There were too many requests for this.', {
    retryAfter: Math.max(1, Math.ceil((free - now.getTime()) / 1000)),
  })
}
