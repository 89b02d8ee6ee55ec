import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
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
  const program = join(import.meta.dirname, '../test/support/grown-old.ts')
  // Else V8's threads, and what it derives from times, decide what is promoted: where processors are busy, anything.
  const flags = ['--expose-gc', '--single-threaded', '--predictable']
  const grown = (kind: string) => Number(execFileSync(process.execPath, [...flags, program, kind]))
  const [brief, plain] = [grown('brief'), grown('plain')]
  expect(brief * 4, `${brief} instead of ${plain} bytes`).toBeLessThan(plain)
})
