const first = 1000
/** Milliseconds between two tries, at most. */
export const longest = 60_000
/** Milliseconds after a code's expiry during which the end of its mail may still be recorded. */
const afterword = 10 * 60_000

/**
 * The backoff for the retry of mails: the milliseconds until the next try. 1 s, doubled with every try (counted from
 * 1), a minute at most. Chance takes up to half of that away. The last try before the expiry falls on the expiry. -1: give up.
 */
export function retryDelay(tries: number, expiresAt: string, now: number, chance = Math.random()): number {
  const left = Date.parse(expiresAt) - now
  if (!(left > -afterword)) return -1
  const delay = Math.round(Math.min(longest, first * 2 ** (tries - 1)) * (1 + chance) * 0.5)
  return left > 0 ? Math.min(delay, left) : delay
}
