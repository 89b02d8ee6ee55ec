import { type Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Service } from '#lib/process'
import { below } from '#lib/telemetry/in-span'
import { throttled } from '#lib/throttled'
import { retryDelay } from './mail-backoff.ts'
import { type MailUsers, openMailCalls } from '../mail-calls.ts'
import { openMailPlaces } from './mail-places.ts'
import { mailOnce, type MailOnceOptions, type End } from './mail-once.ts'
import { type MailJob, mailQueueName, spanOfJobs } from './mail-queue.ts'
import type { MailReports } from './mail-reports.ts'
import { queuePrefix } from '../../redis.ts'

// If a worker was killed, its job is free when the lock ends, and one of the next two looks finds it.
const lockFor = 10_000
const lookEvery = 5_000

// A place at the mail server need not wait for users and Redis.
const jobsPerPlace = 4

const processing = spanOfJobs('process', 'consumer')

export interface WorkerOptions extends Pick<MailOnceOptions, 'mailer' | 'clock' | 'log'> {
  redis: Redis
  users: MailUsers
  reports: MailReports
  /** Mails that may be under way to the mail server at a time. */
  concurrency: number
}

export interface MailWorker extends Service {
  /** Cuts the connections if `stop` takes too long. */
  abandon(): void
}

/** Starts to work on the jobs. If one throws, it comes again until its code has expired. */
export function startMailWorker({ redis, users, reports, concurrency, mailer, clock, log }: WorkerOptions): MailWorker {
  const mail = mailOnce({ users: openMailCalls(users, clock), places: openMailPlaces(concurrency), mailer, clock, log })
  const worker = new Worker<MailJob, End>(
    mailQueueName,
    (job) =>
      below(processing, job.data.traceparent, () =>
        mail(
          job.data,
          (changed) => job.updateData(changed),
          (note) => reports.note(job.data, { ...note, tries: job.attemptsMade + 1 }),
          job.failedReason,
        ),
      ),
    {
      connection: redis,
      prefix: queuePrefix,
      concurrency: jobsPerPlace * concurrency,
      lockDuration: lockFor,
      stalledInterval: lookEvery,
      // The job is not at fault if its workers are killed again and again.
      maxStalledCount: 1_000_000,
      runRetryDelay: 500,
      // Seconds that a wait for new jobs may take. During such a wait, BullMQ at times misses that a job became due.
      drainDelay: 1,
      settings: {
        backoffStrategy(tries, _type, _error, job) {
          const { data } = job as Job<MailJob>
          const delay = retryDelay(tries, data.expiresAt, clock.time())
          const retryAt = new Date(clock.time() + delay)
          if (delay >= 0) reports.note(data, { state: 'queued', tries, retryAt, ofRecorded: true })
          return delay
        },
      },
    },
  )
  worker.on('error', throttled(log, 'the worker of mails failed'))
  worker.on('completed', (job, end) => log.info({ ...ids(job), end }, 'job done'))
  worker.on('failed', (job, { message: reason }) => {
    if (!job) return
    const fields = { ...ids(job), tries: job.attemptsMade, reason }
    // While the mail server is away, each job comes here again and again. The log says why, once.
    if (job.finishedOn === undefined) log.info(fields, 'job is tried again')
    else log.warn(fields, 'job given up: its code has expired')
  })
  worker.on('stalled', (codeId) => log.warn({ codeId }, 'a job lost its worker and is taken up again'))
  return {
    stop: () => worker.close(),
    abandon: () => void worker.disconnect().catch(() => {}),
  }
}

function ids({ data: { userId, codeId } }: Job<MailJob>) {
  return { userId, codeId }
}
