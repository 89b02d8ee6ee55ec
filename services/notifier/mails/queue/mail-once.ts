import type { EmailCode } from '#gen/roster/users/v1/internal_service'
import { BriefMap } from '#lib/brief-map'
import type { Log } from '#lib/log'
import { mails, mailTimes } from '../../measures.ts'
import { telemetry } from '#lib/telemetry/telemetry'
import { throttled } from '#lib/throttled'
import type { Clock } from '../clock.ts'
import type { MailCalls } from '../mail-calls.ts'
import type { Mailer } from '../smtp/mailer.ts'
import { kindOf, nameOf } from '../mail-kinds.ts'
import type { MailPlaces } from './mail-places.ts'
import { laneOf, type MailJob } from './mail-queue.ts'
import type { MailNote } from './mail-reports.ts'
import { plainReply } from '../smtp/plain-reply.ts'
import { readRefusal, type Refusal } from '../smtp/smtp-refusal.ts'

export interface MailOnceOptions {
  users: MailCalls
  mailer: Mailer
  places: MailPlaces
  clock: Clock
  log: Log
}

/** How a job ended. `nothing`: the code was superseded, used or settled, so no mail went out. */
export type End = 'sent' | 'failed' | 'nothing'

/**
 * Mails a code and records the outcome. `keep` puts the outcome into the job, so that the next try only records it.
 * `note` hears what became of the try. `lastReason` is why the try before this one failed. Throws if the job must come
 * again. The error's message, unlike its cause, holds no code and no address.
 */
export type MailCode = (
  job: MailJob,
  keep: (job: MailJob) => Promise<void>,
  note: (note: MailNote) => void,
  lastReason?: string,
) => Promise<End>

/** Milliseconds that the recording of an outcome may take before the job keeps the outcome. */
const keepAfter = 200
/** Milliseconds after which users is asked again whether a mail that waits is still to be sent. */
const freshFor = 1000
/** The same, once the mail server is ready for the mail. */
const freshForSending = 100

/** Returns a function that mails a code once, even if the code's job comes several times, or twice at the same time. */
export function mailOnce({ users, mailer, places, clock, log }: MailOnceOptions): MailCode {
  // Redis may lose a job that is under way, and the sweep adds it again. So this process remembers what it did.
  const underWay = new BriefMap<string, Promise<End>>()
  const unrecorded = new BriefMap<string, Outcome>()
  const refused = throttled(log, 'the mail server takes no mail from us: see SMTP_URL, MAIL_FROM', 'error')

  return (job, ...rest) => {
    const running = underWay.get(job.codeId)
    if (running) return running
    const started = attempt(job, ...rest).finally(() => underWay.delete(job.codeId))
    underWay.set(job.codeId, started)
    return started
  }

  async function attempt(...[job, keep, note, lastReason]: Parameters<MailCode>): Promise<End> {
    const outcome = unrecorded.get(job.codeId) ?? outcomeOf(job) ?? (await send(job, note, lastReason))
    if (!outcome) {
      mails.add(1, 'nothing')
      note({ state: 'superseded', ofRecorded: true })
      return 'nothing'
    }
    unrecorded.set(job.codeId, outcome)
    await record(job, outcome, () => void keep({ ...job, ...outcome }).catch(() => {}))
    unrecorded.delete(job.codeId)
    return outcome.failure === undefined ? 'sent' : 'failed'
  }

  async function record({ userId, codeId, kind, cause = '' }: MailJob, { failure }: Outcome, keep: () => void) {
    const late = setTimeout(keep, keepAfter)
    try {
      const traceparent = telemetry.tracing?.place() ?? ''
      await users.record({ userId, codeId, kind: kindOf(kind).number, failure, cause, traceparent })
    } catch (error) {
      keep()
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  async function send(job: MailJob, note: Note, lastReason = ''): Promise<Outcome | undefined> {
    const { userId, codeId, kind, expiresAt } = job
    const isLate = () => Date.parse(expiresAt) <= clock.time()
    let askedAt = 0
    const content = () => {
      askedAt = performance.now()
      return users.content({ userId, codeId, kind: kindOf(kind).number })
    }
    // Users decides whether it is too late: the clock here may not be set yet.
    const code = await content()
    if (!code) return isLate() ? late(note, lastReason) : undefined
    const domain = code.email.slice(code.email.lastIndexOf('@') + 1).toLowerCase()
    const isDue = async () => performance.now() - askedAt < freshForSending || (await content()) !== undefined
    return places.take({ domain, organizationId: laneOf(job) }, async (waited) => {
      const fresh = waited < freshFor ? code : await content()
      const outcome = fresh && (await hand(job, fresh, note, isDue))
      return outcome ?? (isLate() ? late(note, lastReason) : undefined)
    })
  }

  /**
   * Hands the mail over. Returns nothing if the mail was not to be sent any more once the mail server was ready for it.
   */
  async function hand(
    { codeId, kind = 'email-code' }: MailJob,
    content: EmailCode,
    note: Note,
    isDue: () => Promise<boolean>,
  ): Promise<Outcome | undefined> {
    const began = performance.now()
    // That users does not answer is not the mail server's fault.
    let unanswered: unknown
    const ask = () => isDue().catch((error) => ((unanswered = error), false))
    const sent = content.kind ? nameOf(content.kind) : kind
    try {
      const reply = await mailer.send(sent, codeId, content, ask)
      if (reply === false) {
        if (unanswered !== undefined) throw unanswered
        return undefined
      }
      note({ kind: sent, state: 'sent', error: '', reply: plainReply(reply, content) })
    } catch (error) {
      if (error === unanswered) throw error
      const refusal = readRefusal(error)
      mails.add(1, outcomeLabel(refusal))
      const reply = plainReply((error as { response?: unknown }).response, content)
      note({ kind: sent, state: refusal.permanent ? 'failed' : 'queued', error: refusal.reason, reply })
      if (refusal.permanent) return { failure: refusal.reason }
      // Without the cause, which may hold an address.
      if (refusal.ours) refused(new Error(refusal.reason), { codeId })
      throw new Error(refusal.reason, { cause: error })
    }
    mails.add(1, 'sent')
    mailTimes.record((performance.now() - began) / 1000)
    return { sentAt: new Date(clock.time()).toISOString() }
  }
}

type Note = Parameters<MailCode>[2]

/** So begins the reason of a mail that was given up when its time was over. */
export const tooLate = 'Its time was over'

function late(note: Note, lastReason: string): Outcome {
  mails.add(1, 'late')
  // Users takes no other characters.
  const reason = lastReason.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300)
  const over = `${tooLate} before the mail server took the mail.`
  const failure = reason === '' ? over : `${over} The last try: ${reason}`
  note({ state: 'failed', error: failure, ofRecorded: true })
  return { failure }
}

function outcomeLabel({ permanent, ours, answered }: Refusal): string {
  if (permanent) return 'refused'
  if (ours) return 'misconfigured'
  return answered ? 'deferred' : 'unreachable'
}

interface Outcome {
  sentAt?: string | undefined
  failure?: string | undefined
}

function outcomeOf({ sentAt, failure }: MailJob): Outcome | undefined {
  return sentAt === undefined && failure === undefined ? undefined : { sentAt, failure }
}
