import { Queue } from 'bullmq'
import type { ConsumerInfo } from 'nats'
import type { Sql } from '#lib/eventstore/database'
import { consumers } from '#lib/events/consumers'
import { streamName } from '#lib/events/stream'
import { mailQueueName } from '../../../services/notifier/mails/mail-queue.ts'
import { queuePrefix } from '../../../services/notifier/redis.ts'
import { webhookQueueName } from '../../../services/notifier/webhooks/webhook-queue.ts'
import type { System } from '../system.ts'

/** The stream and its consumers. */
export interface StreamStatus {
  messages: number
  first: number
  last: number
  bytes: number
  /** `waiting`: not yet handed out; `underWay`: handed out and not acknowledged. */
  consumers: Record<string, { waiting: number; underWay: number; again: number }>
}

/** Looks at the stream of events. */
export async function lookAtStream(system: System): Promise<StreamStatus> {
  const manager = await system.jetstream()
  const { state } = await manager.streams.info(streamName)
  const infos = await Promise.all(Object.keys(consumers).map((name) => manager.consumers.info(streamName, name)))
  return {
    messages: state.messages,
    first: state.first_seq,
    last: state.last_seq,
    bytes: state.bytes,
    consumers: Object.fromEntries(infos.map((info) => [info.name, pending(info)])),
  }
}

function pending({ num_pending, num_ack_pending, num_redelivered }: ConsumerInfo) {
  return { waiting: num_pending, underWay: num_ack_pending, again: num_redelivered }
}

/** The jobs of each queue in Redis, by their state. Undefined where no Redis is named. */
export async function lookAtJobs(system: System): Promise<Record<string, Record<string, number>> | undefined> {
  const connection = system.redis()
  if (!connection) return undefined
  const names = [mailQueueName, webhookQueueName]
  const counts = names.map(async (name) => {
    const queue = new Queue(name, { connection, prefix: queuePrefix, skipVersionCheck: true, skipMetasUpdate: true })
    queue.on('error', () => {})
    const found = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')
    await queue.close()
    return [name, found] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

/** There are two kinds, with short names. */
const [mostKinds, longestKind] = [100, 100]

/** Deliveries of the notifier's ledger that wait, and the seconds since the oldest of them was asked for. */
export async function lookAtDeliveries(sql: Sql): Promise<Record<string, { waiting: number; seconds: number }>> {
  const rows = await sql<{ kind: string; waiting: number; seconds: number }[]>`
    select left(kind, ${longestKind}) as kind, count(*)::int as waiting, extract(epoch from now() - min(queued_at))::float8 as seconds
    from deliveries where state = 'queued' group by deliveries.kind limit ${mostKinds}
  `
  return Object.fromEntries(rows.map(({ kind, ...row }) => [kind, row]))
}
