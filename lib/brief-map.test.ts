import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { BriefMap } from './brief-map.ts'

test('it keeps its entries and their order, however many come and go', () => {
  const map = new BriefMap<string, number>()
  map.set('first', -1)
  for (let i = 0; i < 1000; i++) {
    map.set(`${i}`, i)
    if (i >= 10) expect(map.delete(`${i - 10}`)).toBe(true)
  }
  expect(map.delete('0')).toBe(false)
  expect([...map.keys()]).toEqual(['first', ...Array.from({ length: 10 }, (_, i) => `${990 + i}`)])
  expect([...map.values()]).toEqual([-1, ...Array.from({ length: 10 }, (_, i) => 990 + i)])
  expect([...map]).toHaveLength(map.size)
  expect([map.get('999'), map.has('first'), map.has('0')]).toEqual([999, true, false])
})

test('all entries may go while they are looped over', () => {
  const map = new BriefMap<number, true>()
  for (let i = 0; i < 1000; i++) map.set(i, true)
  for (const [key] of map) map.delete(key)
  expect(map.size).toBe(0)
})

test('what has gone does not grow old, unlike in a Map', () => {
  // A major collection may come between.
  const worst = (make: () => Churned) => Math.max(...[1, 2, 3].map(() => grownOld(make())))
  const [brief, plain] = [worst(() => new BriefMap()), worst(() => new Map())]
  expect(brief * 4, `${brief} instead of ${plain} bytes`).toBeLessThan(plain)
})

interface Churned {
  set(key: string, value: object): unknown
  delete(key: string): unknown
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that reach the old generation while entries come and go. */
function grownOld(map: Churned): number {
  const add = (i: number) =>
    map.set(
      `${i}`,
      Array.from({ length: 100 }, () => ({ i })),
    )
  for (let i = 0; i < 64; i++) add(i)
  // Now the table is old.
  collect()
  const before = oldBytes()
  for (let i = 64; i < 20_000; i++) {
    add(i)
    map.delete(`${i - 64}`)
  }
  return oldBytes() - before
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size
}
