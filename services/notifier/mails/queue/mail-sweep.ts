import { randomUUID } from 'node:crypto'
import type { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import type { Log } from '#lib/log'
import type { Client } from '#lib/rpc/call'
import { anonymous } from '#lib/rpc/caller'
import { repeat, type Repeated } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { nameOf } from '../mail-kinds.ts'
import type { Clock } from '../clock.ts'
import type { MailQueue } from './mail-queue.ts'

const limit = 5000
const answerWithin = 10_000

export interface SweepOptions {
  users: Client<typeof InternalServiceDefinition, 'listUnsentEmailCodes'>
  queue: MailQueue
  clock: Clock
  log: Log
  /** Milliseconds. */
  every: number
}

/**
 * Asks users for the unsent codes, at once and again and again, and makes a job for each code that has none. So a lost
 * event stream or an emptied Redis delays mails and loses none. It can be woken for mails that have no event in the
 * stream.
 */
export function startMailSweep({ users, queue, clock, log, every }: SweepOptions): Repeated {
  const failed = throttled(log, 'the sweep of unsent codes failed and tries again')
  return repeat({ work: look, every, retryAfter: every, failed })

  async function look(stopped: AbortSignal) {
    const call = { caller: anonymous, requestId: randomUUID(), deadline: Date.now() + answerWithin }
    const { codes, time } = await users.listUnsentEmailCodes({ limit }, call)
    clock.hear(time)
    const jobs = codes.map(({ userId, codeId, kind, organizationId, expirationDate }) => {
      return { userId, codeId, kind: nameOf(kind), organizationId, expiresAt: expirationDate!.toISOString() }
    })
    if (jobs.length > 0 && !stopped.aborted) await queue.add(jobs)
    if (!stopped.aborted) await queue.hurry()
  }
}
