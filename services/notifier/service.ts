import { setTimeout as sleep } from 'node:timers/promises'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { watchServer } from '#lib/telemetry/servers'
import type { Config } from './config.ts'
import { createClock } from './mails/clock.ts'
import { openMailReports } from './mails/queue/mail-reports.ts'
import { startMailIntake } from './mails/mail-intake.ts'
import { hearMails } from './mails/hear-mails.ts'
import { openMailer } from './mails/smtp/mailer.ts'
import { openLogos } from './mails/logos.ts'
import { loadMails } from './mails/render.ts'
import { type MailJob, openMailQueue } from './mails/queue/mail-queue.ts'
import { connectRedis } from './redis.ts'
import { startWithDatabase } from './with-database.ts'
import { startMailSweep } from './mails/queue/mail-sweep.ts'
import { startMailWorker } from './mails/queue/mail-worker.ts'
import { watchMailer } from './mails/smtp/watched-mailer.ts'
import { internalCalls } from '../internal-calls.ts'

// A process must have stopped within ten seconds.
const stopDeadline = 8000
const stopDeadlineWithoutRedis = 1000

/** Starts the notifier. Waits for no server; throws if mail files are broken. */
export async function startNotifier({ config, nats, log }: { config: Config; nats: Nats; log: Log }): Promise<Service> {
  const mails = loadMails()
  const users = createClient(nats, InternalServiceDefinition, internalCalls.notifier.users)
  const clock = createClock()
  const mailer = watchMailer(openMailer(config, mails, clock, openLogos(users)), nats.waits)
  const redis = connectRedis(config.REDIS_URL, nats.waits)
  const watching = watchServer('redis', async () => void (await redis.ping()))
  const queue = openMailQueue(redis, log)
  const reports = openMailReports()
  const isDrill = config.ROSTER_DRILL === '1'
  if (isDrill) log.warn('this is a drill (ROSTER_DRILL): no mail and nothing to a webhook is sent')
  const worker = isDrill
    ? undefined
    : startMailWorker({ redis, users, reports, mailer, clock, log, concurrency: config.MAIL_CONCURRENCY })
  const intake = startMailIntake({ nats, queue, clock, log })
  const sweep = startMailSweep({ users, queue, clock, log, every: config.SWEEP_INTERVAL * 1000 })
  // What Redis does not take now, the sweep finds.
  const queueMails = (jobs: MailJob[]) => void queue.add(jobs).catch(() => sweep.wake())
  const announced = hearMails({ nats, queueMails, reports, log })
  const storing = startWithDatabase({ config, nats, redis, log, reports, queueMails })
  return {
    async stop() {
      announced.unsubscribe()
      const stopped = Promise.all([intake.stop(), sweep.stop(), worker?.stop(), mailer.stop(), storing.stop()])
      // The next process takes up events and jobs that do not end in time.
      const away = redis.status === 'ready' ? new Promise((resolve) => redis.once('close', resolve)) : Promise.resolve()
      await Promise.race([
        stopped,
        sleep(stopDeadline, undefined, { ref: false }),
        away.then(() => sleep(stopDeadlineWithoutRedis, undefined, { ref: false })),
      ])
      worker?.abandon()
      mailer.close()
      await queue.close()
      watching.stop()
      redis.disconnect()
    },
  }
}
