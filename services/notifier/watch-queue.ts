import type { Queue } from 'bullmq'
import { measures } from '#lib/telemetry/instruments'
import { watchServer } from '#lib/telemetry/servers'
import { jobs, jobsAge } from './measures.ts'

/** Measures a queue in Redis, and by that whether Redis answers. Gives the function that ends it. */
export function watchQueue(queue: Queue, name: 'mails' | 'webhooks'): () => void {
  if (!measures()) return () => {}
  let counts: Record<string, number> | undefined
  let since: number | undefined
  let id: string | undefined
  const watching = watchServer('redis', async () => {
    counts = await queue.getJobCounts('wait', 'prioritized', 'active', 'delayed')
    const [next] = await queue.getJobs(['wait', 'prioritized'], 0, 0, true)
    // A job that comes again has rested meanwhile.
    if (next?.id !== id) since = next && (next.attemptsMade > 0 ? Date.now() : next.timestamp)
    id = next?.id
  })
  const count = (...states: string[]) => counts && states.reduce((sum, state) => sum + (counts![state] ?? 0), 0)
  const unwatch = [
    jobs.watch(() => count('wait', 'prioritized'), name, 'waiting'),
    jobs.watch(() => count('active'), name, 'active'),
    jobs.watch(() => count('delayed'), name, 'delayed'),
    jobsAge.watch(() => counts && (since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1000)), name),
  ]
  return () => {
    watching.stop()
    for (const end of unwatch) end()
  }
}
