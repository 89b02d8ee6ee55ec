import { expect, test } from 'vitest'
import { keepRecentEvents } from './recent-events.ts'
import type { StoredEvent } from './stored-event.ts'

// Two events in each transaction.
const event = (position: number) =>
  ({ position: String(position), transaction_id: String(position >> 1) }) as StoredEvent
const events = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => event(first + i))
const place = (position: number) => ({ transactionId: position >> 1, position })

function open(...pages: [number, number][]) {
  const recent = keepRecentEvents()
  for (const [first, last] of pages) recent.add(event(first - 1), events(first, last), 100)
  return {
    ...recent,
    positionsAfter: (position: number) => recent.after(place(position))?.map((found) => Number(found.position)),
  }
}

test('the events between a place and the last one are known, whichever pages they came with', () => {
  const { positionsAfter } = open([5, 7], [8, 9], [10, 12])
  expect(positionsAfter(4)).toEqual([5, 6, 7, 8, 9, 10, 11, 12])
  expect(positionsAfter(6)).toEqual([7, 8, 9, 10, 11, 12])
  expect(positionsAfter(9)).toEqual([10, 11, 12])
  expect(positionsAfter(11)).toEqual([12])
})

test('a place before them or behind them is unknown', () => {
  const { positionsAfter, after } = open([5, 7])
  expect(positionsAfter(3)).toBeUndefined()
  expect(positionsAfter(7)).toBeUndefined()
  expect(positionsAfter(80)).toBeUndefined()
  expect(after({ transactionId: 0, position: 0 })).toBeUndefined()
  expect(open().positionsAfter(0)).toBeUndefined()
})

test('a place between two events, such as one that a cursor has, is known', () => {
  const { after } = open([5, 7])
  expect(after({ transactionId: 2, position: 100 })?.map(({ position }) => position)).toEqual(['6', '7'])
})

test('a page that comes again adds only the events that were unknown', () => {
  const { positionsAfter, add } = open([5, 7], [8, 9])
  add(event(7), events(8, 9), 100)
  add(event(5), events(6, 11), 100)
  expect(positionsAfter(4)).toEqual([5, 6, 7, 8, 9, 10, 11])
})

test.each([
  ['behind a gap', 12, [13]],
  ['from before them', 1, [2, 3]],
])('a page %s is known alone', (_, after, found) => {
  const { positionsAfter, add } = open([5, 7], [8, 9])
  add(event(after), events(after + 1, found.at(-1)!), 100)
  expect(positionsAfter(after)).toEqual(found)
  expect(positionsAfter(6)).toBeUndefined()
})

test('after a clear, nothing is known', () => {
  const { positionsAfter, clear, add } = open([5, 7])
  clear()
  expect(positionsAfter(5)).toBeUndefined()
  add(event(9), events(10, 10), 100)
  expect(positionsAfter(9)).toEqual([10])
})

test.each([
  ['many', 1500, 100],
  ['large', 10, 1024 * 1024],
])('%s events push out the oldest', (_, count, bytes) => {
  const { positionsAfter, add } = open()
  for (let first = 1; first < 10 * count; first += count) add(event(first - 1), events(first, first + count - 1), bytes)
  expect(positionsAfter(0)).toBeUndefined()
  expect(positionsAfter(9 * count)).toHaveLength(count)
  expect(positionsAfter(6 * count)).toHaveLength(4 * count)
  expect(positionsAfter(5 * count)).toBeUndefined()
})
