import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, test, vi } from 'vitest'
import { startTestMetrics } from '#test/support/metrics'
import { testServers } from '#test/support/servers'
import { watchOldest } from './oldest-waiting.ts'
import { watchQueue } from './watch-queue.ts'

const read = startTestMetrics()
const hour = 3_600_000
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function open() {
  const redis = new Redis(testServers().redisUrl, { maxRetriesPerRequest: null })
  const queue = new Queue(randomUUID(), { connection: redis, prefix: 'oldest' })
  ends.push(
    () => redis.disconnect(),
    () => queue.obliterate({ force: true }),
  )
  const add = (ago: number, priority?: number, delay = 0) =>
    queue.add('job', {}, { timestamp: Date.now() - ago, delay, attempts: 9, ...(priority && { priority }) })
  return { redis, queue, add }
}

const age = async () => (await read('roster.queue.oldest.age'))['mails']

test('an old job of a low priority shows its age behind fresh ones of a high priority', async () => {
  const { redis, queue, add } = open()
  await add(hour, 900)
  for (let n = 0; n < 20; n++) await add(0, 1)
  ends.push(watchQueue(queue, redis, 'mails'))
  await vi.waitFor(async () => expect(await age()).toBeGreaterThan(3600))
  expect(await age()).toBeLessThan(3700)
  expect((await read('roster.queue.jobs'))['mails waiting']).toBe(21)
})

test('no job that waits has no age', async () => {
  const { redis, queue } = open()
  ends.push(watchQueue(queue, redis, 'mails'))
  await vi.waitFor(async () => expect(await age()).toBe(0))
})

test('a job without a priority counts from the end of its delay', async () => {
  const { redis, queue, add } = open()
  const job = await add(2 * hour, undefined, hour)
  if (await job.isDelayed()) await job.promote()
  const since = (await watchOldest(queue, redis)())!
  expect(Math.abs(Date.now() - since - hour)).toBeLessThan(60_000)
})

test('a job that comes again counts from its return, also behind fresh ones, and not from its first day', async () => {
  const { redis, queue, add } = open()
  const look = watchOldest(queue, redis)
  await look()
  const worker = new Worker(queue.name, null, { connection: redis, prefix: 'oldest' })
  ends.push(() => worker.close())
  await add(hour, 900)
  const job = await worker.getNextJob('token')
  const before = Date.now()
  await job.moveToFailed(new Error('later'), 'token')
  await vi.waitFor(async () => expect(await queue.getPrioritizedCount()).toBe(1))
  const since = (await look())!
  expect(since).toBeGreaterThanOrEqual(before)
  // It has waited as long at the next look, whatever came meanwhile.
  await add(0, 1)
  expect(await look()).toBe(since)
  expect(await look()).toBe(since)
})
