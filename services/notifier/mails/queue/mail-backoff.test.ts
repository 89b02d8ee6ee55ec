import { describe, expect, it } from 'vitest'
import { retryDelay } from './mail-backoff.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const inAnHour = '2026-01-01T01:00:00Z'

describe('the wait between two tries', () => {
  it('doubles from a second to a minute', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 500].map((tries) => retryDelay(tries, inAnHour, now, 1))
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  })

  it('varies by half, so that mails that failed together do not come together again', () => {
    expect(retryDelay(3, inAnHour, now, 0)).toBe(2000)
    expect(retryDelay(3, inAnHour, now, 0.5)).toBe(3000)
  })

  it('never leads past the expiry: the last try falls on it', () => {
    expect(retryDelay(9, '2026-01-01T00:00:20Z', now, 1)).toBe(20_000)
  })

  it('goes on for ten minutes after the expiry, to record the end, and no longer', () => {
    expect(retryDelay(9, '2025-12-31T23:59:00Z', now, 1)).toBe(60_000)
    expect(retryDelay(9, '2025-12-31T23:50:00Z', now, 1)).toBe(-1)
    expect(retryDelay(1, 'not a time', now, 1)).toBe(-1)
  })
})
