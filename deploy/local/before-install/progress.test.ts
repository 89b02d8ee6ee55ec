import { expect, onTestFinished, test, vi } from 'vitest'
import { openProgress } from './progress.mjs'

test('a step that goes on says every five seconds for how long, and for what it waits, and is silent at its end', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  vi.stubEnv('ROSTER_BEGUN', String(Date.now() - 60_000))
  onTestFinished(() => void vi.unstubAllEnvs())
  const said: string[] = []
  const { promise, resolve } = Promise.withResolvers<string>()
  const waiting = new Set(['NATS', 'Redis'])
  const done = openProgress((line) => void said.push(line)).step(
    'Servers',
    () => promise,
    () => [...waiting].join(', '),
  )
  await vi.advanceTimersByTimeAsync(6000)
  waiting.delete('NATS')
  await vi.advanceTimersByTimeAsync(5000)
  resolve('up')
  expect(await done).toBe('up')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(said).toEqual(['  60 s  Servers', '  65 s    NATS, Redis', '  70 s    Redis'])
})
