import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '#lib/log'
import type { NewSpan } from '#lib/telemetry/tracing'
import { withTimeout } from '#lib/with-timeout'
import { throttled } from '#lib/throttled'
import { longest } from './mail-backoff.ts'
import { kindOf, type MailName } from '../mail-kinds.ts'
import { queuePrefix } from '../../redis.ts'
import { watchQueue } from '../../watch-queue.ts'

/** The part of a mail that Redis may know: ids and times, no code and no address. */
export interface MailJob {
  /** Of a registration: the request that it belongs to. There is no user yet. */
  userId: string
  /** Of the code, or of the notice. */
  codeId: string
  /** Missing in jobs of older versions: a code that verifies an address. */
  kind?: MailName
  /** The user's organization. */
  organizationId: string
  /** RFC 3339. */
  expiresAt: string
  /** The id of the event that asked for the mail. The sweep does not know it. */
  cause?: string
  /** W3C trace context of the work that added the job, where it is traced. */
  traceparent?: string
  /** When the mail server took the mail, if that is not recorded yet. RFC 3339. */
  sentAt?: string | undefined
  /** Why the mail failed for good, if that is not recorded yet. */
  failure?: string | undefined
}

export interface MailQueue {
  /** Adds a job for each code that has none. Rejects if Redis does not take the jobs within five seconds. */
  add(
    codes: Pick<MailJob, 'userId' | 'codeId' | 'kind' | 'organizationId' | 'expiresAt' | 'cause' | 'traceparent'>[],
  ): Promise<void>
  /** Lets go on what waits for longer than any job has to: the clock of a host was set back since. */
  hurry(): Promise<void>
  close(): Promise<void>
}

/** Mails of the same lane wait for each other: those of an organization. Strangers, who register there, have their own. */
export function laneOf({ kind, organizationId }: Pick<MailJob, 'kind' | 'organizationId'>): string {
  return kindOf(kind).ofStrangers ? `registrations in ${organizationId}` : organizationId
}

/** The jobs wait in Redis under `roster:email-codes`. */
export const mailQueueName = 'email-codes'

/** The span of work with the queue. */
export function spanOfJobs(operation: 'send' | 'process', kind: 'producer' | 'consumer'): NewSpan {
  return {
    name: `${operation} ${mailQueueName}`,
    kind,
    attributes: {
      'messaging.system.name': 'bullmq',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': mailQueueName,
    },
  }
}

const addDeadline = 5000
const tooLong = 2 * longest
/** BullMQ's lowest priority. */
const last = 2_097_152
/** Milliseconds for which an organization's mails count against its priority. */
const countFor = 10 * 60_000

/** Opens the queue. A job has its code's id, so a code has one job however often it is added. */
export function openMailQueue(redis: Redis, log: Log): MailQueue {
  const queue = new Queue<MailJob>(mailQueueName, {
    connection: redis,
    prefix: queuePrefix,
    // A job ends with its code's time, not after a number of tries.
    defaultJobOptions: {
      attempts: 1_000_000,
      // BullMQ does not know this name, so it asks the worker's `backoffStrategy`.
      backoff: { type: 'until-expiry' },
      removeOnComplete: true,
      removeOnFail: true,
      stackTraceLimit: 1,
    },
    streams: { events: { maxLen: 100 } },
  })
  queue.on('error', throttled(log, 'the queue of mails failed'))
  const unwatch = watchQueue(queue, redis, 'mails')
  let [counts, countUntil] = [new Map<string, number>(), 0]

  // The first mail of each lane goes before the second mail of any. So ten thousand mails of one organization delay no
  // other organization.
  function priorityOf(lane: string): number {
    if (Date.now() > countUntil) [counts, countUntil] = [new Map(), Date.now() + countFor]
    const priority = (counts.get(lane) ?? 0) + 1
    counts.set(lane, priority)
    return Math.min(priority, last)
  }

  return {
    async add(codes) {
      const jobs = codes.map((data) => {
        return { name: 'mail', data, opts: { jobId: data.codeId, priority: priorityOf(laneOf(data)) } }
      })
      // Late is harmless: when Redis is back it takes the job after all, and a second one of that id is none.
      await withTimeout(queue.addBulk(jobs), {
        timeout: addDeadline,
        late: () => new Error('Redis does not take jobs'),
      })
    },
    async hurry() {
      const ids = await redis.zrangebyscore(queue.toKey('delayed'), (Date.now() + tooLong) * 2 ** 12, '+inf')
      // It may go on by itself meanwhile.
      for (const id of ids) await (await queue.getJob(id))?.promote().catch(() => {})
    },
    close() {
      unwatch()
      return queue.close()
    },
  }
}
