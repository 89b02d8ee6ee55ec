import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { withTimeout } from './with-timeout.ts'

const bounds = { late: () => new Error('late'), gone: () => new Error('gone') }
const never = new Promise<never>(() => {})

test('work that ends in time gives its result, or throws its own error', async () => {
  await expect(withTimeout(Promise.resolve('done'), { ...bounds, timeout: 60_000 })).resolves.toBe('done')
  await expect(withTimeout(Promise.reject(new Error('own')), { ...bounds, timeout: 60_000 })).rejects.toThrow('own')
})

test('a wait ends with its timeout, also where no time is left', async () => {
  await expect(withTimeout(never, { ...bounds, timeout: 1 })).rejects.toThrow('late')
  await expect(withTimeout(never, { ...bounds, timeout: -1 })).rejects.toThrow('late')
})

test('work that is done already gives its result although no time is left', async () => {
  await expect(withTimeout(Promise.resolve('done'), { ...bounds, timeout: 0 })).resolves.toBe('done')
})

test('a wait ends when its signal is aborted, before or meanwhile', async () => {
  const client = new AbortController()
  const waiting = withTimeout(never, { ...bounds, timeout: 60_000, signal: client.signal })
  client.abort()
  await expect(waiting).rejects.toThrow('gone')
  await expect(withTimeout(never, { ...bounds, timeout: 60_000, signal: client.signal })).rejects.toThrow('gone')
})

test('the work goes on when no caller waits any more, and its error then disturbs none', async () => {
  const { promise: work, reject } = Promise.withResolvers<string>()
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  const others = work.catch((error: Error) => error.message)
  await expect(withTimeout(work, { ...bounds, timeout: 0 })).rejects.toThrow('late')
  reject(new Error('own'))
  await expect(others).resolves.toBe('own')
  const alone = Promise.withResolvers<string>()
  await expect(withTimeout(alone.promise, { ...bounds, timeout: 0 })).rejects.toThrow('late')
  alone.reject(new Error('own'))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a wait that is over leaves no listener with its signal', async () => {
  const { signal } = new AbortController()
  await withTimeout(Promise.resolve('done'), { ...bounds, timeout: 60_000, signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
