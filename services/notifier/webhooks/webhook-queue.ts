import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '#lib/log'
import { throttled } from '#lib/throttled'
import { queuePrefix } from '../redis.ts'
import { watchQueue } from '../watch-queue.ts'

/** All that Redis knows: something may be due to a webhook. */
export interface WebhookJob {
  webhookId: string
}

export interface WebhookQueue {
  /** Says that something is due, now or after some milliseconds. If Redis does not take it, the sweep says it again. */
  wake(webhookId: string, delay?: number): void
  close(): Promise<void>
}

/** The jobs wait in Redis under `roster:webhooks`. */
export const webhookQueueName = 'webhooks'

export function openWebhookQueue(redis: Redis, log: Log): WebhookQueue {
  const queue = new Queue<WebhookJob>(webhookQueueName, {
    connection: redis,
    prefix: queuePrefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 },
    streams: { events: { maxLen: 100 } },
  })
  const failed = throttled(log, 'the queue of webhooks failed')
  queue.on('error', failed)
  const unwatch = watchQueue(queue, redis, 'webhooks')

  function add(webhookId: string, options: { delay?: number; jobId?: string }) {
    // While Redis is away, jobs would pile up in this process.
    if (redis.status === 'ready') queue.add('send', { webhookId }, options).catch(failed)
  }

  return {
    wake(webhookId, delay = 0) {
      if (delay === 0) add(webhookId, {})
      // One job for everything due within the same second.
      else add(webhookId, { delay, jobId: `${webhookId}-${Math.ceil((Date.now() + delay) / 1000)}` })
    },
    close() {
      unwatch()
      return queue.close()
    },
  }
}
