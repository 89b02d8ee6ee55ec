import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Service } from '#lib/process'
import { queuePrefix } from '../queue.ts'
import { throttled } from '../redis.ts'
import { takeChain } from './chain.ts'
import { type WebhookJob, webhookQueueName } from './queue.ts'
import { send, type SendOptions } from './send.ts'

/** Simultaneous sendings to one webhook, of one process. */
const lanesOfOne = 4
/** Jobs under way at a time: most of them wait for a receiver. */
const concurrency = 100
const finishWithin = 4000

/**
 * Works on the jobs: sends what is due to a webhook until nothing is. At most four chains of a webhook at a time, so that one whose
 * receiver is slow or dead leaves room for the others.
 */
export function startWebhookWorker({ redis, ...options }: SendOptions & { redis: Redis }): Service {
  const { sql, log } = options
  const lanes = new Map<string, { number: number; again: boolean }>()
  const stopped = new AbortController()
  const abandoned = new AbortController()
  const failed = throttled(log, 'sending to a webhook failed')

  async function work(webhookId: string): Promise<void> {
    const own = lanes.get(webhookId) ?? { number: 0, again: false }
    lanes.set(webhookId, own)
    // Whoever finds nothing more looks once more.
    if (own.number >= lanesOfOne) return void (own.again = true)
    own.number++
    const others = new Set<Promise<void>>()
    try {
      while (!stopped.signal.aborted) {
        own.again = false
        const taken = await takeChain(sql, webhookId)
        if (!taken && !own.again) break
        if (!taken) continue
        if (own.number < lanesOfOne) {
          const other = work(webhookId)
            .catch(failed)
            .finally(() => others.delete(other))
          others.add(other)
        }
        await send(options, taken, abandoned.signal)
      }
    } finally {
      if (--own.number === 0) lanes.delete(webhookId)
    }
    await Promise.all(others)
  }

  const worker = new Worker<WebhookJob>(webhookQueueName, ({ data }) => work(data.webhookId), {
    connection: redis,
    prefix: queuePrefix,
    concurrency,
    // Whoever loses a job to a killed worker finds its work in PostgreSQL.
    maxStalledCount: 1_000_000,
    runRetryDelay: 500,
    // As of the mails' worker.
    drainDelay: 1,
  })
  worker.on('error', throttled(log, 'the worker of webhooks'))
  worker.on('failed', (_job, error) => failed(error))
  return {
    async stop() {
      stopped.abort()
      const closed = worker.close()
      await Promise.race([closed, sleep(finishWithin, undefined, { ref: false })])
      // What is still under way is given back: somebody else sends it again.
      abandoned.abort()
      await Promise.race([closed, sleep(1000, undefined, { ref: false })])
    },
  }
}
