import { expect, test } from 'vitest'
// @ts-expect-error The driver does not export it.
import Queue from '../../node_modules/postgres/src/queue.js'

interface Entries {
  push(entry: object): void
  shift(): object
  remove(entry: object): object | null
}

// Of patches/postgres+*.patch: the driver looks through a queue of its connections for each statement. Without the patch,
// a queue that is never empty keeps a place for each entry that it ever had.
test('a queue that is never empty does not get slower', () => {
  const [fresh, used]: [Entries, Entries] = [Queue(), Queue()]
  fresh.push({})
  used.push({})
  for (let count = 0; count < 400_000; count++) {
    used.push({})
    used.shift()
  }
  timeOf(fresh)
  expect(timeOf(used)).toBeLessThan(timeOf(fresh) * 200)
})

/** Milliseconds of many looks through a queue. */
function timeOf(queue: Entries): number {
  const absent = {}
  const began = performance.now()
  for (let count = 0; count < 1000; count++) queue.remove(absent)
  return performance.now() - began
}
