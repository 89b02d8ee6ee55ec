import { expect, test } from 'vitest'
import { createRecent } from './token-bucket.ts'

test('a value that is asked for stays, and one that is not goes', () => {
  let made = 0
  const recent = createRecent(() => ++made, 10)
  expect(recent('busy', 0)).toBe(1)
  expect(recent('idle', 0)).toBe(2)
  for (let now = 1; now <= 100; now += 3) expect(recent('busy', now)).toBe(1)
  expect(recent('idle', 101)).toBe(3)
})

test('a value is kept for its age after it was last asked for', () => {
  for (let at = 0; at < 30; at++) {
    let made = 0
    const recent = createRecent(() => ++made, 10)
    recent('other', 0)
    const value = recent('one', at)
    for (let now = at; now < at + 10; now++) recent('other', now)
    expect(recent('one', at + 10)).toBe(value)
  }
})

test('beyond its capacity it drops the older keys, so it never grows without end', () => {
  let made = 0
  const recent = createRecent(() => ++made, 1000, 10)
  for (let n = 0; n < 21; n++) recent(`key-${n}`, 0)
  expect(recent('key-20', 0)).toBe(21)
  expect(recent('key-0', 0)).toBe(22)
})
