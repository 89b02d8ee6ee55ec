import { expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { throttle } from './throttle.ts'

const now = new Date('2026-11-20T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()

function wait(times: string[], most: number, window: number): number | undefined {
  try {
    throttle(times, most, window, now, 'TOO_OFTEN')
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 8, reason: 'TOO_OFTEN' })
    return (error as RosterError).retryAfter
  }
}

test('nothing yet: go on', () => expect(wait([], 1, 60)).toBeUndefined())
test('one less than most: go on', () => expect(wait([ago(3), ago(2)], 3, 60)).toBeUndefined())
test('as many as most: wait until the oldest of them leaves the window', () => {
  expect(wait([ago(50), ago(2), ago(1)], 3, 60)).toBe(10)
})
test('more than most: wait until so many have left that there is room', () => {
  expect(wait([ago(50), ago(40), ago(30), ago(1)], 3, 60)).toBe(20)
})
test('a time as old as the window does not count, a later one does', () => {
  expect(wait([ago(60)], 1, 60)).toBeUndefined()
  expect(wait([ago(59.999)], 1, 60)).toBe(1)
})
test('the wait is never too short, and at least a second', () => {
  expect(wait([ago(59.5)], 1, 60)).toBe(1)
  expect(wait([ago(58.5)], 1, 60)).toBe(2)
})
test('a time from a replica whose clock is ahead counts', () => expect(wait([ago(-5)], 1, 60)).toBe(65))
