import type { Subscription } from 'nats'
import { mailsWithoutEvent, readMailWithoutEvent } from '#lib/events/hints'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import { mailNames } from './mail-kinds.ts'
import type { MailJob } from './queue/mail-queue.ts'
import type { MailReports } from './queue/mail-reports.ts'

export interface HearMailsOptions {
  nats: Nats
  log: Log
  reports: MailReports
  queueMails(jobs: MailJob[]): void
}

/** Makes a job of each mail without an event that users announces. The sweep finds those that it misses. */
export function hearMails({ nats, log, reports, queueMails }: HearMailsOptions): Subscription {
  return nats.connection.subscribe(mailsWithoutEvent, {
    callback(error, message) {
      if (error) return log.warn({ err: error }, 'the announcements of mails are not heard')
      const mail = readMailWithoutEvent(message.string())
      const kind = mailNames.find((name) => name === mail?.kind)
      if (!mail || !kind) return
      queueMails([{ ...mail, kind }])
      reports.note({ ...mail, kind }, { state: 'queued', tries: 0 })
    },
  })
}
