import { expect, test, vi } from 'vitest'
import { createCache } from './cache.ts'

const answer = (value: string, until?: number) => () =>
  Promise.resolve({ value, ...(until !== undefined && { until }) })

function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<{ value: string }>()
  return { ask: vi.fn(() => promise), answer: (value: string) => resolve({ value }), fail: reject }
}

test('an answer is remembered until its age or its own end', async () => {
  vi.useFakeTimers({ now: 1000 })
  try {
    const cache = createCache<string>({ capacity: 9, maxAge: 100 })
    await cache.obtain('a', answer('A'))
    await cache.obtain('b', answer('B', 1050))
    expect([cache.get('a'), cache.get('b')]).toEqual(['A', 'B'])
    vi.setSystemTime(1050)
    expect([cache.get('a'), cache.get('b')]).toEqual(['A', undefined])
    vi.setSystemTime(1100)
    expect(cache.get('a')).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('the age counts from the question, since the answer may be as old as that', async () => {
  vi.useFakeTimers({ now: 1000 })
  try {
    const cache = createCache<string>({ capacity: 9, maxAge: 100 })
    const slow = pending()
    const asked = cache.obtain('a', slow.ask)
    vi.setSystemTime(1090)
    slow.answer('A')
    await asked
    vi.setSystemTime(1100)
    expect(cache.get('a')).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('questions at the same time are one question', async () => {
  const cache = createCache<string>({ capacity: 9, maxAge: 100 })
  const slow = pending()
  const all = [cache.obtain('a', slow.ask), cache.obtain('a', slow.ask)]
  slow.answer('A')
  expect(await Promise.all(all)).toEqual(['A', 'A'])
  expect(slow.ask).toHaveBeenCalledTimes(1)
})

test('a failure reaches all that wait, and is not remembered', async () => {
  const cache = createCache<string>({ capacity: 9, maxAge: 100 })
  const slow = pending()
  const all = [cache.obtain('a', slow.ask), cache.obtain('a', slow.ask)]
  slow.fail(new Error('no'))
  for (const one of all) await expect(one).rejects.toThrow('no')
  expect(await cache.obtain('a', answer('A'))).toBe('A')
})

test('beyond the capacity the least recently used answer goes first', async () => {
  const cache = createCache<string>({ capacity: 2, maxAge: 1000 })
  await cache.obtain('a', answer('A'))
  await cache.obtain('b', answer('B'))
  cache.get('a')
  await cache.obtain('c', answer('C'))
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual(['A', undefined, 'C'])
})

test('a large answer takes the place of several small ones, and one beyond the capacity is not remembered', async () => {
  const cache = createCache<string>({ capacity: 5, sizeOf: ({ length }) => length, maxAge: 1000 })
  for (const text of ['a', 'b', 'c', 'dddd']) await cache.obtain(text, answer(text))
  expect(['a', 'b', 'c', 'dddd'].map((key) => cache.get(key))).toEqual([undefined, undefined, 'c', 'dddd'])
  await cache.obtain('c', answer('c'))
  expect(cache.get('dddd')).toBe('dddd')
  expect(await cache.obtain('eeeeee', answer('eeeeee'))).toBe('eeeeee')
  expect(cache.get('eeeeee')).toBeUndefined()
})

test('evicting takes the answers that fit and leaves the rest', async () => {
  const cache = createCache<string>({ capacity: 9, maxAge: 1000 })
  await cache.obtain('a', answer('A'))
  await cache.obtain('b', answer('B'))
  cache.evict((value) => value === 'A')
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'B'])
  cache.clear()
  expect(cache.get('b')).toBeUndefined()
})

test('an answer under way when it was evicted is not cached, and no later question joins it', async () => {
  const cache = createCache<string>({ capacity: 9, maxAge: 1000 })
  const [old, other, fresh] = [pending(), pending(), pending()]
  const first = cache.obtain('a', old.ask)
  const unconcerned = cache.obtain('b', other.ask)
  cache.evict((value) => value === 'A')
  const second = cache.obtain('a', fresh.ask)
  expect(fresh.ask).toHaveBeenCalledTimes(1)
  old.answer('A')
  other.answer('B')
  await Promise.all([first, unconcerned])
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'B'])
  fresh.answer('A')
  await second
  expect(cache.get('a')).toBe('A')
})
