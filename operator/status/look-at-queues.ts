import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { ConsumerInfo, JetStreamManager } from 'nats'
import type { Sql } from '#lib/database/database'
import { consumers } from '#lib/events/consumers'
import { streamName } from '#lib/events/stream'
import { mailQueueName } from '../../services/notifier/mails/queue/mail-queue.ts'
import { queuePrefix } from '../../services/notifier/redis.ts'
import { webhookQueueName } from '../../services/notifier/webhooks/webhook-queue.ts'
import type { System } from '../system.ts'
import { type Backlog, most } from './backlog.ts'

/** The stream and its consumers. */
export interface StreamStatus {
  messages: number
  first: number
  last: number
  bytes: number
  /**
   * `waiting`: not yet handed out; `underWay`: handed out and not acknowledged; `seconds`: since the first of them came
   * to the stream.
   */
  consumers: Record<string, { waiting: number; underWay: number; again: number; seconds: number }>
}

export async function lookAtStream(system: System): Promise<StreamStatus> {
  const manager = await system.jetstream()
  const { state } = await manager.streams.info(streamName)
  const looked = Object.entries(consumers).map(async ([name, subject]) => {
    const info = await manager.consumers.info(streamName, name)
    return [name, { ...pending(info), seconds: await ageOfFirst(manager, subject, info) }] as const
  })
  return {
    messages: state.messages,
    first: state.first_seq,
    last: state.last_seq,
    bytes: state.bytes,
    consumers: Object.fromEntries(await Promise.all(looked)),
  }
}

function pending({ num_pending, num_ack_pending, num_redelivered }: ConsumerInfo) {
  return { waiting: num_pending, underWay: num_ack_pending, again: num_redelivered }
}

// Since the first message that the consumer has not acknowledged came to the stream.
async function ageOfFirst(manager: JetStreamManager, subject: string, info: ConsumerInfo): Promise<number> {
  if (info.num_pending + info.num_ack_pending === 0) return 0
  // The driver's type does not know this request; the server does.
  const request = { seq: info.ack_floor.stream_seq + 1, next_by_subj: subject } as { seq: number }
  const { time } = await manager.streams.getMessage(streamName, request)
  return Math.max(0, (Date.now() - time.getTime()) / 1000)
}

/** The jobs of a queue in Redis, by their state. */
export interface JobsStatus {
  counts: Record<string, number>
  /** Seconds for which the oldest has waited that no worker took yet, or that has rested and may go on. */
  seconds: number
}

/** The jobs of each queue in Redis. Undefined where no Redis is named. */
export async function lookAtJobs(system: System): Promise<Record<string, JobsStatus> | undefined> {
  const connection = system.redis()
  if (!connection) return undefined
  const names = [mailQueueName, webhookQueueName]
  const counts = names.map(async (name) => {
    const queue = new Queue(name, { connection, prefix: queuePrefix, skipVersionCheck: true, skipMetasUpdate: true })
    queue.on('error', () => {})
    const found = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')
    const seconds = await oldestJob(connection, (part) => queue.toKey(part))
    await queue.close()
    return [name, { counts: found, seconds }] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

/** Jobs whose times are read, at most. */
const looked = 100

// Only by commands that read, so that a user of Redis may do it who may do nothing else.
async function oldestJob(redis: Redis, key: (part: string) => string): Promise<number> {
  const scored = await redis.zrange(key('prioritized'), '0', String(most - 1), 'WITHSCORES')
  const prioritized = scored.flatMap((id, at) =>
    at % 2 === 0 ? [{ id, number: Number(scored[at + 1]) % 2 ** 32 }] : [],
  )
  // BullMQ numbers the jobs in the order in which they came.
  const first = prioritized.toSorted((a, b) => a.number - b.number).slice(0, looked)
  const ids = [...(await redis.lrange(key('wait'), -looked, -1)), ...first.map(({ id }) => id)]
  const times = await Promise.all(
    ids.map(async (id) => {
      const [timestamp, options, started] = await redis.hmget(key(id), 'timestamp', 'opts', 'ats')
      // One that comes again has rested.
      if (!timestamp || Number(started ?? 0) > 0) return Infinity
      return Number(timestamp) + ((JSON.parse(options ?? '{}') as { delay?: number }).delay ?? 0)
    }),
  )
  const [, due] = await redis.zrange(key('delayed'), '0', '0', 'WITHSCORES')
  if (due !== undefined) times.push(Number(due) / 2 ** 12)
  return Math.max(0, (Date.now() - Math.min(...times)) / 1000)
}

/** Organizations to whose webhooks something is due, while nothing is sent for them, and since when, in seconds. */
export async function lookAtDue(sql: Sql): Promise<{ organizations: number; seconds: number }> {
  const [row] = await sql<[{ organizations: number; seconds: number }]>`
    select count(distinct organization_id)::int as organizations,
      greatest(0, coalesce(extract(epoch from roster_now() - min(due)), 0))::float8 as seconds
    from (
      select organization_id, greatest(first.due_at, retry_at, turn_at) as due
      from webhooks w
      cross join lateral (
        select due_at from chains c where c.webhook_id = w.webhook_id and due_at <= roster_now() order by due_at limit 1
      ) first
      left join turns using (organization_id)
      where active and (retry_at is null or retry_at <= roster_now())
    ) waiting
  `
  return row
}

/** Deliveries of the notifier's ledger that wait, and the seconds since the oldest of them was asked for. */
export async function lookAtDeliveries(sql: Sql): Promise<Record<string, Backlog>> {
  const rows = await sql<(Backlog & { kind: string })[]>`
    select kind, count(*)::int as waiting, extract(epoch from roster_now() - min(queued_at))::float8 as seconds
    from deliveries where state = 'queued' group by kind
  `
  return Object.fromEntries(rows.map(({ kind, ...row }) => [kind, row]))
}
