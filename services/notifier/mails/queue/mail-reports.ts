import { kindOf, type MailName, mailNames } from '../mail-kinds.ts'
import type { MailJob } from './mail-queue.ts'

/** What became of a try to mail. Holds no code and no address. */
export interface MailNote {
  /** `superseded`: it was not to be sent any more. */
  state: 'queued' | 'sent' | 'failed' | 'superseded'
  /** What the mail turned out to be. Without it: what its job says. */
  kind?: MailName
  error?: string
  /** As `plainReply` gives it. */
  reply?: string
  /** Only of a mail of which there is a record: that there is such a mail, Redis alone says. */
  ofRecorded?: true
}

/** A row for `report_mails`. */
export interface MailReport {
  code_id: string
  state: MailNote['state']
  of_recorded: boolean
  organization_id: string
  user_id: string
  mail_kind: MailName
  expires_at: string
  tries: number
  error?: string
  reply?: string
  retry_at?: string
}

/** What is to be stored of mails. It waits here, as mails do not wait for the notifier's database. */
export interface MailReports {
  note(job: MailJob, note: MailNote & { tries: number; retryAt?: Date }): void
  /** Takes out the oldest reports, each code once. */
  take(most: number): MailReport[]
  /** Puts reports back that could not be stored. */
  putBack(reports: MailReport[]): void
}

/** The most mails of which reports wait: while the database is away, the oldest go. */
const mostWaiting = 10_000

export function openMailReports(): MailReports {
  const waiting = new Map<string, MailReport>()

  function add(report: MailReport) {
    waiting.set(report.code_id, report)
    if (waiting.size > mostWaiting) waiting.delete(waiting.keys().next().value!)
  }

  return {
    note(
      { userId, codeId, kind = 'email-code', organizationId, expiresAt },
      { state, tries, error, reply, retryAt, kind: sent, ofRecorded = false },
    ) {
      // A job of a later version has its report from a notifier of that.
      if (!mailNames.includes(kind)) return
      const before = waiting.get(codeId)
      const report: MailReport = {
        code_id: codeId,
        state,
        of_recorded: ofRecorded,
        organization_id: organizationId,
        user_id: kindOf(kind).ofStrangers ? '' : userId,
        mail_kind: sent ?? kind,
        expires_at: expiresAt,
        tries,
        ...(error !== undefined && { error }),
        ...(reply !== undefined && { reply }),
        ...(retryAt && { retry_at: retryAt.toISOString() }),
      }
      add(before ? together(before, report) : report)
    },
    take(most) {
      const taken = [...waiting.values().take(most)]
      for (const { code_id } of taken) waiting.delete(code_id)
      return taken
    },
    putBack(reports) {
      for (const report of reports) {
        const later = waiting.get(report.code_id)
        add(later ? together(report, later) : report)
      }
    },
  }
}

function together(before: MailReport, later: MailReport): MailReport {
  return {
    ...before,
    ...later,
    // Only a try that reached the mail server knows what the mail turned out to be.
    mail_kind: later.reply === undefined ? before.mail_kind : later.mail_kind,
    // A second job of a mail says nothing about its end.
    state: hasEnded(before) && !hasEnded(later) ? before.state : later.state,
    of_recorded: before.of_recorded && later.of_recorded,
    tries: Math.max(before.tries, later.tries),
  }
}

function hasEnded({ state }: Pick<MailReport, 'state'>): boolean {
  return state === 'sent' || state === 'failed'
}
