import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { BriefMap } from '#lib/brief-map'
import type { Service } from '#lib/process'
import { throttled } from '#lib/throttled'
import { webhookLanes, webhookPlaces, webhooksHeld } from '../measures.ts'
import { queuePrefix } from '../redis.ts'
import { type Taken, takeChains } from './chain.ts'
import { type WebhookJob, webhookQueueName } from './webhook-queue.ts'
import { send, type SendOptions } from './send.ts'

/** The most chains taken at once: each comes with its payload. */
const portion = 20
/** Milliseconds between two looks at webhooks that wait for a place. */
const lookEvery = 1000
const finishWithin = 4000

export interface WorkerOptions extends SendOptions {
  redis: Redis
  /** Tries under way at a time. Webhooks that are not quick get half of them at most. */
  concurrency: number
}

export interface WebhookWorker extends Service {
  /** Looks at these webhooks: something may be due to them. */
  look(webhookIds: string[]): void
}

/**
 * Sends deliveries that are due. Redis, the sweep and its own tries name the webhooks to look at. PostgreSQL
 * decides which comes next, so that the order holds over all replicas. No job waits for a receiver.
 */
export function startWebhookWorker({ redis, concurrency, ...options }: WorkerOptions): WebhookWorker {
  const { sql, log, within } = options
  const stopped = new AbortController()
  const abandoned = new AbortController()
  const failed = throttled(log, 'sending to a webhook failed')
  const underWay = new BriefMap<Promise<void>, Taken>()
  let ready = new Set<string>()
  // Webhooks that wait for a place, by organization: when one of its tries ends, its place is free for another webhook.
  let held = new Map<string, Set<string>>()
  let woken = Promise.withResolvers<void>()

  const slowUnderWay = () => [...underWay.values()].filter(({ slow }) => slow).length
  webhookPlaces.watch(() => concurrency)
  webhookLanes.watch(slowUnderWay, 'slow')
  webhookLanes.watch(() => underWay.size - slowUnderWay(), 'quick')
  webhooksHeld.watch(() => [...held.values()].reduce((sum, own) => sum + own.size, 0))

  function look(webhookIds: string[]) {
    for (const id of webhookIds) ready.add(id)
    woken.resolve()
  }

  function lookAtHeld() {
    const all = [...held.values()].flatMap((own) => [...own])
    held = new Map()
    look(all)
  }

  async function run() {
    while (!stopped.signal.aborted) {
      woken = Promise.withResolvers()
      try {
        while (!stopped.signal.aborted && (await fill()));
      } catch (error) {
        failed(error as Error)
        await pause(lookEvery)
      }
      const timer = held.size > 0 ? setTimeout(() => lookAtHeld(), lookEvery) : undefined
      await woken.promise
      clearTimeout(timer)
    }
  }

  // Returns whether there may be more.
  async function fill(): Promise<boolean> {
    const most = Math.min(concurrency - underWay.size, portion)
    if (most <= 0 || ready.size === 0) return false
    const asked = [...ready]
    ready = new Set()
    const { taken, waiting } = await takeChains(sql, asked, {
      most,
      mostSlow: Math.max(0, Math.floor(concurrency / 2) - slowUnderWay()),
      within,
    }).catch((error: unknown) => {
      look(asked)
      throw error
    })
    for (const { organizationId, webhookId } of waiting)
      held.set(organizationId, (held.get(organizationId) ?? new Set()).add(webhookId))
    // The number asked for is reached: perhaps others had to wait only for that reason.
    if (taken.length === most) lookAtHeld()
    for (const chain of taken) {
      ready.add(chain.webhookId)
      begin(chain)
    }
    return taken.length > 0
  }

  function begin(chain: Taken) {
    const sent = send(options, chain, abandoned.signal)
      .catch(failed)
      .finally(() => {
        underWay.delete(sent)
        look([chain.webhookId, ...(held.get(chain.organizationId) ?? [])])
        held.delete(chain.organizationId)
      })
    underWay.set(sent, chain)
  }

  async function pause(milliseconds: number) {
    await sleep(milliseconds, undefined, { signal: stopped.signal }).catch(() => {})
  }

  const worker = new Worker<WebhookJob>(webhookQueueName, async ({ data }) => look(readIds(data)), {
    connection: redis,
    prefix: queuePrefix,
    concurrency: 10,
    // A job that is lost with its worker does no harm: its work is in PostgreSQL.
    maxStalledCount: 1_000_000,
    runRetryDelay: 500,
    // For the same reason as in the mails' worker.
    drainDelay: 1,
  })
  worker.on('error', throttled(log, 'the worker of webhooks failed'))
  worker.on('failed', (_job, error) => failed(error))
  const finished = run()
  return {
    look,
    async stop() {
      stopped.abort()
      woken.resolve()
      const closed = Promise.all([worker.close(), finished.then(() => Promise.all(underWay.keys()))])
      await Promise.race([closed, sleep(finishWithin, undefined, { ref: false })])
      // Gives back the chains under way: another worker sends again.
      abandoned.abort()
      await Promise.race([closed, sleep(1000, undefined, { ref: false })])
    },
  }
}

// Redis may hold anything. The worker would look again and again for an id that PostgreSQL refuses.
function readIds(data: Partial<WebhookJob> | null): string[] {
  const id: unknown = data?.webhookId
  return typeof id === 'string' && /^[\w-]{1,200}$/.test(id) ? [id] : []
}
