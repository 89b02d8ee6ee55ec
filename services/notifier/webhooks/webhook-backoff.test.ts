import { expect, test } from 'vitest'
import { retryDelay } from './webhook-backoff.ts'

const queuedAt = new Date('2026-01-01T00:00:00Z')
const now = queuedAt.getTime()
const day = 24 * 60 * 60_000

test('the wait grows from a second to four hours', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50].map((attempts) => retryDelay({ attempts, queuedAt }, day, now, 1))
  expect(waits.map((wait) => wait! / 1000)).toEqual([1, 5, 30, 120, 600, 1800, 3600, 7200, 14_400, 14_400])
})

test('the wait varies by half, so that deliveries that failed together do not come together again', () => {
  expect(retryDelay({ attempts: 2, queuedAt }, day, now, 0)).toBe(2500)
})

test('the receiver may ask for more time, up to an hour, but not for less', () => {
  const wished = (milliseconds: number) => retryDelay({ attempts: 2, queuedAt, wished: milliseconds }, day, now, 1)
  expect(wished(20_000)).toBe(20_000)
  expect(wished(day)).toBe(3_600_000)
  expect(wished(1)).toBe(5000)
})

test('the last try falls on the end of the time, and no other follows', () => {
  expect(retryDelay({ attempts: 9, queuedAt }, day, now + day - 10, 1)).toBe(10)
  expect(retryDelay({ attempts: 9, queuedAt }, day, now + day, 1)).toBeUndefined()
})
