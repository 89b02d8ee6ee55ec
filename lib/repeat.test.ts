import { afterEach, expect, test, vi } from 'vitest'
import { repeat, type Repeated, type RepeatOptions } from './repeat.ts'

/** Far longer than a test: the work comes again for another reason, or not at all. */
const never = 2 ** 31 - 1

let repeated: Repeated | undefined
afterEach(() => repeated?.stop())

/** Repeats work that the test ends, each time with another answer. */
function start(options: Partial<RepeatOptions> = {}) {
  const begun: { end(next?: 'more' | 'done'): void; fail(): void; stopped: AbortSignal }[] = []
  const failed = vi.fn<(error: Error) => void>()
  repeated = repeat({
    work(stopped) {
      const { promise, resolve, reject } = Promise.withResolvers<'more' | 'done' | void>()
      begun.push({ end: resolve, fail: () => reject(new Error('no')), stopped })
      return promise
    },
    every: never,
    retryAfter: never,
    failed,
    ...options,
  })
  return { begun, failed, repeated }
}

/** Lets everything happen that waits for no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('work begins at once, and again when its time has come', async () => {
  const { begun } = start({ every: 1 })
  expect(begun).toHaveLength(1)
  begun[0]!.end()
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  begun[1]!.end()
})

test('work that has more to do is not made to wait', async () => {
  const { begun } = start()
  begun[0]!.end('more')
  await settle()
  expect(begun).toHaveLength(2)
  begun[1]!.end()
})

test('a wake-up ends the wait, once', async () => {
  const { begun, repeated } = start()
  begun[0]!.end()
  await settle()
  expect(begun).toHaveLength(1)
  repeated.wake()
  await settle()
  expect(begun).toHaveLength(2)
  begun[1]!.end()
  await settle()
  expect(begun).toHaveLength(2)
})

test('a wake-up during the work is not lost, and never makes two works at a time', async () => {
  const { begun, repeated } = start()
  repeated.wake()
  await settle()
  expect(begun).toHaveLength(1)
  begun[0]!.end()
  await settle()
  expect(begun).toHaveLength(2)
  begun[1]!.end()
})

test('an error is reported, and the work comes again after its time', async () => {
  const { begun, failed } = start({ retryAfter: 1 })
  begun[0]!.fail()
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  expect(failed.mock.calls).toEqual([[new Error('no')]])
  begun[1]!.end()
})

test('a wake-up does not shorten the time after an error', async () => {
  const { begun, repeated } = start()
  begun[0]!.fail()
  await settle()
  repeated.wake()
  await settle()
  expect(begun).toHaveLength(1)
})

test('a stop waits for the work under way, which sees it, and begins no other', async () => {
  const { begun, repeated } = start()
  let over = false
  const stopping = repeated.stop().then(() => (over = true))
  await settle()
  expect(over).toBe(false)
  expect(begun[0]!.stopped.aborted).toBe(true)
  begun[0]!.end('more')
  await stopping
  expect(begun).toHaveLength(1)
})

test.each(['end', 'fail'] as const)('a stop ends the wait after %s of the work', async (how) => {
  const { begun, repeated } = start()
  begun[0]![how]()
  await settle()
  await repeated.stop()
  expect(begun).toHaveLength(1)
})

test('an error of work that was stopped is not reported', async () => {
  const { begun, failed, repeated } = start()
  const stopping = repeated.stop()
  begun[0]!.fail()
  await stopping
  expect(failed).not.toHaveBeenCalled()
})

test('work that is done ends it', async () => {
  const { begun, repeated } = start()
  begun[0]!.end('done')
  await repeated.finished
  repeated.wake()
  await settle()
  expect(begun).toHaveLength(1)
})
