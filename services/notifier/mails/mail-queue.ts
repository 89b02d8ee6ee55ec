import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '#lib/log'
import { queuePrefix, throttled } from '../redis.ts'

/** What Redis knows of a mail: ids and times, no code and no address. */
export interface MailJob {
  userId: string
  codeId: string
  /** Whose the user is; in a job from before it was told, nobody's. */
  organizationId?: string
  /** RFC 3339. */
  expiresAt: string
  /** The id of the event that asked for the mail; a job that the sweep found has none. */
  cause?: string
  /** The mail server took the mail, which is not yet recorded. RFC 3339. */
  sentAt?: string
  /** The mail failed for good and why, which is not yet recorded. */
  failure?: string
}

export interface MailQueue {
  /** Adds a job for each code that has none. Rejects where Redis does not take it within five seconds. */
  add(codes: Pick<MailJob, 'userId' | 'codeId' | 'organizationId' | 'expiresAt' | 'cause'>[]): Promise<void>
  close(): Promise<void>
}

/** Where the jobs wait, in Redis: `roster:email-codes`. */
export const mailQueueName = 'email-codes'

const addDeadline = 5000
/** The least priority that BullMQ knows. */
const last = 2_097_152
/** Milliseconds for which an organization's mails count. */
const countFor = 10 * 60_000

/** Opens the queue. The job's id is the code's, so that a code has one job however often it is added. */
export function openMailQueue(redis: Redis, log: Log): MailQueue {
  const queue = new Queue<MailJob>(mailQueueName, {
    connection: redis,
    prefix: queuePrefix,
    // Time ends a job, not a count.
    defaultJobOptions: {
      attempts: 1_000_000,
      // A name that BullMQ does not know: the worker's own.
      backoff: { type: 'until-expiry' },
      removeOnComplete: true,
      removeOnFail: true,
      stackTraceLimit: 1,
    },
    streams: { events: { maxLen: 100 } },
  })
  queue.on('error', throttled(log, 'the queue'))
  let [counts, countUntil] = [new Map<string, number>(), 0]

  // The first mail of each organization comes before the second of any: ten thousand of one delay nobody else's.
  function turnOf(organizationId: string): number {
    if (Date.now() > countUntil) [counts, countUntil] = [new Map(), Date.now() + countFor]
    const turn = (counts.get(organizationId) ?? 0) + 1
    counts.set(organizationId, turn)
    return Math.min(turn, last)
  }

  return {
    async add(codes) {
      const jobs = codes.map((data) => {
        return { name: 'mail', data, opts: { jobId: data.codeId, priority: turnOf(data.organizationId ?? '') } }
      })
      await within(addDeadline, queue.addBulk(jobs))
    },
    close: () => queue.close(),
  }
}

// Late is harmless: when Redis is back it takes the job after all, and a second one of that id is none.
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('Redis does not take jobs')), milliseconds)
  work.catch(() => {})
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
