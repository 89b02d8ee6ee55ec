import type { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import type { Client } from '#lib/rpc/call'
import { anonymous } from '#lib/rpc/caller'
import type { Mailer } from './mailer.ts'
import type { MailJob } from './mail-queue.ts'
import { readRefusal } from './smtp-refusal.ts'

export interface MailOnceOptions {
  users: Client<'notifier', typeof InternalServiceDefinition>
  mailer: Mailer
  log: Log
}

/** How a job ended: `nothing`, because the code was superseded, used or settled. */
export type End = 'sent' | 'failed' | 'nothing'

/**
 * Mails a code and records it. `keep` puts what happened into the job, so that its next try only records.
 * Throws where the job is to come again: an Error whose message, unlike its cause, holds no code and no address.
 */
export type Deliver = (job: MailJob, keep: (job: MailJob) => Promise<void>) => Promise<End>

const answerWithin = 10_000

/** Makes a delivery that mails a code once, although the same code's job may come several times, even at the same time. */
export function mailOnce({ users, mailer, log }: MailOnceOptions): Deliver {
  // Redis may lose a job that is under way, and the sweep adds it anew: what this process did is known here, too.
  const underWay = new Map<string, Promise<End>>()
  const unrecorded = new Map<string, Outcome>()

  return (job, keep) => {
    const running = underWay.get(job.codeId)
    if (running) return running
    const started = attempt(job, keep).finally(() => underWay.delete(job.codeId))
    underWay.set(job.codeId, started)
    return started
  }

  async function attempt(job: MailJob, keep: (job: MailJob) => Promise<void>): Promise<End> {
    const outcome = unrecorded.get(job.codeId) ?? outcomeOf(job) ?? (await send(job))
    if (!outcome) return 'nothing'
    unrecorded.set(job.codeId, outcome)
    keep({ ...job, ...outcome }).catch(() => {})
    const { userId, codeId, cause } = job
    await ask(users.recordEmailCode({ userId, codeId, failure: outcome.failure }, { ...call(codeId), cause }))
    unrecorded.delete(job.codeId)
    return outcome.failure === undefined ? 'sent' : 'failed'
  }

  async function send({ userId, codeId, expiresAt }: MailJob): Promise<Outcome | undefined> {
    if (Date.parse(expiresAt) <= Date.now())
      return { failure: 'The code expired before the mail server took its mail.' }
    const { code } = await ask(users.getEmailCode({ userId, codeId }, call(codeId)))
    if (!code) return undefined
    try {
      await mailer.send(codeId, code)
      return { sentAt: new Date().toISOString() }
    } catch (error) {
      const refusal = readRefusal(error)
      if (refusal.permanent) return { failure: refusal.reason }
      if (refusal.ours)
        log.error({ codeId, reason: refusal.reason }, 'the mail server takes no mail from us: see SMTP_URL, MAIL_FROM')
      throw new Error(refusal.reason, { cause: error })
    }
  }
}

interface Outcome {
  sentAt?: string
  failure?: string
}

function outcomeOf({ sentAt, failure }: MailJob): Outcome | undefined {
  return sentAt === undefined && failure === undefined ? undefined : { sentAt, failure }
}

async function ask<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw new Error(`users: ${error instanceof RosterError ? error.reason : 'no answer'}`, { cause: error })
  }
}

function call(codeId: string) {
  return { caller: anonymous, requestId: codeId, deadline: Date.now() + answerWithin }
}
