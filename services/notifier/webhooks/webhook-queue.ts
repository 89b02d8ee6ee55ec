import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '#lib/log'
import { queuePrefix, throttled } from '../redis.ts'

/** What Redis knows: that there may be something to send to a webhook. */
export interface WebhookJob {
  webhookId: string
}

export interface WebhookQueue {
  /** Says that something is to be sent now, or after milliseconds. What Redis does not take, the sweep says again. */
  wake(webhookId: string, delay?: number): void
  close(): Promise<void>
}

/** Where the jobs wait, in Redis: `roster:webhooks`. */
export const webhookQueueName = 'webhooks'

/** Opens the queue. */
export function openWebhookQueue(redis: Redis, log: Log): WebhookQueue {
  const queue = new Queue<WebhookJob>(webhookQueueName, {
    connection: redis,
    prefix: queuePrefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 },
    streams: { events: { maxLen: 100 } },
  })
  const failed = throttled(log, 'the queue of webhooks')
  queue.on('error', failed)

  function add(webhookId: string, options: { delay?: number; jobId?: string }) {
    // Without Redis they would gather here.
    if (redis.status === 'ready') queue.add('send', { webhookId }, options).catch(failed)
  }

  return {
    wake(webhookId, delay = 0) {
      if (delay === 0) add(webhookId, {})
      // One for all that is due within the same second.
      else add(webhookId, { delay, jobId: `${webhookId}-${Math.ceil((Date.now() + delay) / 1000)}` })
    },
    close: () => queue.close(),
  }
}
