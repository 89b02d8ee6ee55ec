import type { Subscription } from 'nats'
import { readRegistrationMail, registrationMails } from '#lib/events/hints'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { MailJob } from './mail-queue.ts'

export interface HearMailsOptions {
  nats: Nats
  log: Log
  queueMails(jobs: MailJob[]): void
}

/** Makes a job of each mail of a registration that users announces. The sweep finds those that it misses. */
export function hearMails({ nats, log, queueMails }: HearMailsOptions): Subscription {
  return nats.connection.subscribe(registrationMails, {
    callback(error, message) {
      if (error) return log.warn({ err: error }, 'the announcements of mails of registrations are not heard')
      const mail = readRegistrationMail(message.string())
      if (mail) queueMails([{ ...mail, kind: 'registration' }])
    },
  })
}
