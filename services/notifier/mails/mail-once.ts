import type { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import type { Client } from '#lib/rpc/call'
import { anonymous } from '#lib/rpc/caller'
import type { Mailer } from './mailer.ts'
import { numberOf } from './mail-kinds.ts'
import type { MailJob } from './mail-queue.ts'
import { readRefusal } from './smtp-refusal.ts'

export interface MailOnceOptions {
  users: Client<typeof InternalServiceDefinition, 'getEmailCode' | 'recordEmailCode'>
  mailer: Mailer
  log: Log
}

/** How a job ended. `nothing`: the code was superseded, used or settled, so no mail went out. */
export type End = 'sent' | 'failed' | 'nothing'

/**
 * Mails a code and records the outcome. `keep` puts the outcome into the job, so that the next try only records it.
 * Throws if the job must come again. The error's message, unlike its cause, holds no code and no address.
 */
export type MailCode = (job: MailJob, keep: (job: MailJob) => Promise<void>) => Promise<End>

const answerWithin = 10_000

/** Returns a function that mails a code once, even if the code's job comes several times, or twice at the same time. */
export function mailOnce({ users, mailer, log }: MailOnceOptions): MailCode {
  // Redis may lose a job that is under way, and the sweep adds it again. So this process remembers what it did.
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
    const kind = numberOf(job.kind)
    await ask(users.recordEmailCode({ userId, codeId, kind, failure: outcome.failure }, { ...call(codeId), cause }))
    unrecorded.delete(job.codeId)
    return outcome.failure === undefined ? 'sent' : 'failed'
  }

  async function send({ userId, codeId, kind = 'email-code', expiresAt }: MailJob): Promise<Outcome | undefined> {
    if (Date.parse(expiresAt) <= Date.now())
      return { failure: 'Its time was over before the mail server took the mail.' }
    const { code } = await ask(users.getEmailCode({ userId, codeId, kind: numberOf(kind) }, call(codeId)))
    if (!code) return undefined
    try {
      await mailer.send(kind, codeId, code)
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
  sentAt?: string | undefined
  failure?: string | undefined
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
