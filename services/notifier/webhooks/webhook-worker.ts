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
import type { SendOptions } from './send.ts'
import { sendBatch } from './send-batch.ts'

/** The most places taken at once, and chains in one of them: each comes with its payload. */
const portion = 20
const mostOfPlace = 8
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
  // How many chains a place of a webhook comes to, where more than one: a look costs more than a try.
  const paces = new Map<string, number>()
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
    const paced = new Map(asked.map((id) => [id, paces.get(id) ?? 1]))
    const { taken, waiting } = await takeChains(sql, paced, {
      most,
      mostSlow: Math.max(0, Math.floor(concurrency / 2) - slowUnderWay()),
      within,
    }).catch((error: unknown) => {
      look(asked)
      throw error
    })
    for (const { organizationId, webhookId } of waiting)
      held.set(organizationId, (held.get(organizationId) ?? new Set()).add(webhookId))
    const places = [...Map.groupBy(taken, ({ takenBy }) => takenBy).values()]
    // The number asked for is reached: perhaps others had to wait only for that reason.
    if (places.length === most) lookAtHeld()
    for (const chains of places) {
      ready.add(chains[0]!.webhookId)
      begin(chains)
    }
    const pending = new Set([...taken, ...waiting].map(({ webhookId }) => webhookId))
    for (const id of asked) if (!pending.has(id)) paces.delete(id)
    return places.length > 0
  }

  function begin(chains: Taken[]) {
    const [{ webhookId, organizationId }] = chains as [Taken]
    const givenBack = () => look([webhookId])
    const sent = sendBatch(options, chains, { stopped: stopped.signal, abandoned: abandoned.signal, givenBack })
      .then((reached) => {
        const more = Math.min(mostOfPlace, Math.max(reached * 2, paces.get(webhookId) ?? 1))
        paces.set(webhookId, reached < chains.length ? reached : more)
      })
      .catch(failed)
      .finally(() => {
        underWay.delete(sent)
        look([webhookId, ...(held.get(organizationId) ?? [])])
        held.delete(organizationId)
      })
    underWay.set(sent, chains[0]!)
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
