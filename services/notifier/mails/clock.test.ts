import { afterEach, expect, test, vi } from 'vitest'
import { createClock } from './clock.ts'

afterEach(() => void vi.useRealTimers())

test('it goes on from the time that users gave, even if the clock of this host is set', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'], now: 1_000_000 })
  const clock = createClock()
  expect(clock.time()).toBe(1_000_000)
  clock.hear(undefined)
  clock.hear(new Date(5_000_000))
  vi.setSystemTime(0)
  vi.advanceTimersByTime(250)
  expect(clock.time()).toBe(5_000_250)
})
