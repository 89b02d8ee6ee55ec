import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { lookOften } from '#lib/telemetry/look-often'
import { jobs, jobsAge } from './measures.ts'
import { watchOldest } from './oldest-waiting.ts'

/** Measures a queue in Redis. Returns the function that ends it. */
export function watchQueue(queue: Queue, redis: Redis, name: 'mails' | 'webhooks'): () => void {
  let counts: Record<string, number> | undefined
  let since: number | undefined
  const oldest = watchOldest(queue, redis)
  const looking = lookOften(async () => {
    counts = await queue.getJobCounts('wait', 'prioritized', 'active', 'delayed')
    since = await oldest()
  })
  const count = (...states: string[]) => counts && states.reduce((sum, state) => sum + (counts![state] ?? 0), 0)
  const unwatch = [
    jobs.watch(() => count('wait', 'prioritized'), name, 'waiting'),
    jobs.watch(() => count('active'), name, 'active'),
    jobs.watch(() => count('delayed'), name, 'delayed'),
    jobsAge.watch(() => counts && (since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1000)), name),
  ]
  return () => {
    looking.stop()
    for (const end of unwatch) end()
  }
}
