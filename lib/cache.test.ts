import { expect, test, vi } from 'vitest'
import { createMemory } from './cache.ts'

const answer = (value: string, until?: number) => () =>
  Promise.resolve({ value, ...(until !== undefined && { until }) })

function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<{ value: string }>()
  return { ask: vi.fn(() => promise), answer: (value: string) => resolve({ value }), fail: reject }
}

test('an answer is remembered until its age or its own end', async () => {
  vi.useFakeTimers({ now: 1000 })
  try {
    const memory = createMemory<string>({ capacity: 9, maxAge: 100 })
    await memory.obtain('a', answer('A'))
    await memory.obtain('b', answer('B', 1050))
    expect([memory.get('a'), memory.get('b')]).toEqual(['A', 'B'])
    vi.setSystemTime(1050)
    expect([memory.get('a'), memory.get('b')]).toEqual(['A', undefined])
    vi.setSystemTime(1100)
    expect(memory.get('a')).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('the age counts from the question, since the answer may be as old as that', async () => {
  vi.useFakeTimers({ now: 1000 })
  try {
    const memory = createMemory<string>({ capacity: 9, maxAge: 100 })
    const slow = pending()
    const asked = memory.obtain('a', slow.ask)
    vi.setSystemTime(1090)
    slow.answer('A')
    await asked
    vi.setSystemTime(1100)
    expect(memory.get('a')).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('questions at the same time are one question', async () => {
  const memory = createMemory<string>({ capacity: 9, maxAge: 100 })
  const slow = pending()
  const all = [memory.obtain('a', slow.ask), memory.obtain('a', slow.ask)]
  slow.answer('A')
  expect(await Promise.all(all)).toEqual(['A', 'A'])
  expect(slow.ask).toHaveBeenCalledTimes(1)
})

test('a failure reaches all that wait, and is not remembered', async () => {
  const memory = createMemory<string>({ capacity: 9, maxAge: 100 })
  const slow = pending()
  const all = [memory.obtain('a', slow.ask), memory.obtain('a', slow.ask)]
  slow.fail(new Error('no'))
  for (const one of all) await expect(one).rejects.toThrow('no')
  expect(await memory.obtain('a', answer('A'))).toBe('A')
})

test('beyond the capacity the least recently used answer goes first', async () => {
  const memory = createMemory<string>({ capacity: 2, maxAge: 1000 })
  await memory.obtain('a', answer('A'))
  await memory.obtain('b', answer('B'))
  memory.get('a')
  await memory.obtain('c', answer('C'))
  expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual(['A', undefined, 'C'])
})

test('a large answer takes the place of several small ones, and one beyond the capacity is not remembered', async () => {
  const memory = createMemory<string>({ capacity: 5, sizeOf: ({ length }) => length, maxAge: 1000 })
  for (const text of ['a', 'b', 'c', 'dddd']) await memory.obtain(text, answer(text))
  expect(['a', 'b', 'c', 'dddd'].map((key) => memory.get(key))).toEqual([undefined, undefined, 'c', 'dddd'])
  await memory.obtain('c', answer('c'))
  expect(memory.get('dddd')).toBe('dddd')
  expect(await memory.obtain('eeeeee', answer('eeeeee'))).toBe('eeeeee')
  expect(memory.get('eeeeee')).toBeUndefined()
})

test('forgetting takes the answers that fit and leaves the rest', async () => {
  const memory = createMemory<string>({ capacity: 9, maxAge: 1000 })
  await memory.obtain('a', answer('A'))
  await memory.obtain('b', answer('B'))
  memory.forget((value) => value === 'A')
  expect([memory.get('a'), memory.get('b')]).toEqual([undefined, 'B'])
  memory.forgetAll()
  expect(memory.get('b')).toBeUndefined()
})

test('an answer under way when it was forgotten is not remembered, and no later question joins it', async () => {
  const memory = createMemory<string>({ capacity: 9, maxAge: 1000 })
  const [old, other, fresh] = [pending(), pending(), pending()]
  const first = memory.obtain('a', old.ask)
  const unconcerned = memory.obtain('b', other.ask)
  memory.forget((value) => value === 'A')
  const second = memory.obtain('a', fresh.ask)
  expect(fresh.ask).toHaveBeenCalledTimes(1)
  old.answer('A')
  other.answer('B')
  await Promise.all([first, unconcerned])
  expect([memory.get('a'), memory.get('b')]).toEqual([undefined, 'B'])
  fresh.answer('A')
  await second
  expect(memory.get('a')).toBe('A')
})
