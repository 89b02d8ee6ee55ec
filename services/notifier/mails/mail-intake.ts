import type { PublishedEvent } from '#lib/events/cloud-event'
import { consume } from '#lib/subscriptions/consume'
import { batchCalls } from '#lib/batch-calls'
import type { consumers } from '#lib/events/consumers'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { telemetry } from '#lib/telemetry/telemetry'
import type { Clock } from './clock.ts'
import { type MailJob, type MailQueue, spanOfJobs } from './queue/mail-queue.ts'

const sending = spanOfJobs('send', 'producer')

export interface IntakeOptions {
  nats: Nats
  queue: MailQueue
  clock: Clock
  log: Log
}

/** Makes a job of every request for a code. Acknowledges an event once its job is in Redis. */
export function startMailIntake({ nats, queue, clock, log }: IntakeOptions): Service {
  const add = batchCalls(
    async (jobs: MailJob[]) => {
      await queue.add(jobs)
      return jobs
    },
    { span: sending },
  )
  return consume({
    nats,
    log,
    durable: 'notifier' satisfies keyof typeof consumers,
    async handle({ id: cause, aggregateId: userId, organizationId, data }: PublishedEvent) {
      const { codeId, expiresAt } = data as { codeId: string; expiresAt: string }
      if (Date.parse(expiresAt) <= clock.time())
        return log.info({ userId, codeId }, 'a code expired before its event came')
      const traceparent = telemetry.tracing?.place()
      await add({ userId, codeId, organizationId, expiresAt, cause, ...(traceparent && { traceparent }) })
    },
  })
}
