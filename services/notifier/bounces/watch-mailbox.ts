import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import { withTimeout } from '#lib/with-timeout'
import { bounces, mailboxLooks } from '../measures.ts'
import { queuePrefix } from '../redis.ts'
import type { Mailbox } from '../bounce-settings.ts'
import { type Fate, readMailbox } from './read-mailbox.ts'
import { readReceived } from './read-report.ts'
import type { ReturnPaths } from '../return-path.ts'
import { storeBounces } from './store-bounces.ts'

const longestPause = 15 * 60_000
const redisWithin = 5000

export interface MailboxOptions {
  sql: Sql
  redis: Redis
  log: Log
  mailbox: Mailbox
  paths: ReturnPaths
  /** Milliseconds between two looks. */
  every: number
}

/**
 * Looks into the mailbox of bounces again and again. Of several notifiers one looks at a time: it has a key in Redis, which
 * ends by itself. If two look nevertheless, a message that both read counts once. A mailbox that fails is asked again after
 * ever longer pauses.
 */
export function watchMailbox({ sql, redis, log, mailbox, paths, every }: MailboxOptions): Service {
  const failed = throttled(log, 'the mailbox of bounces (MAIL_BOUNCES_IMAP) is not read, and is tried again')
  const [key, self] = [`${queuePrefix}:bounces`, randomUUID()]
  let [failures, notBefore] = [0, 0]

  const asks = <T>(answer: Promise<T>) =>
    withTimeout(answer, { timeout: redisWithin, late: () => new Error('Redis does not answer') })
  // It is kept after the look: the next one is due when it ends, at whichever notifier.
  const isMine = async () => {
    if ((await asks(redis.get(key))) === self) return (await asks(redis.pexpire(key, every))) === 1
    return (await asks(redis.set(key, self, 'PX', every, 'NX'))) === 'OK'
  }

  async function take(raw: Buffer): Promise<Fate> {
    // Somebody else's text may break any parser. It must not come again and again.
    const received = await readReceived(raw).catch(() => undefined)
    const mailId = received && paths.mailIn(received.head)
    if (!mailId || !received.report) bounces.add(1, 'mailbox', 'unreadable')
    else if (received.report.bounced) await storeBounces(sql, log, 'mailbox', [{ mailId, ...received.report }])
    else bounces.add(1, 'mailbox', 'soft')
    // Whatever else came to an address of ours may have the person's address in it, such as the answer of somebody away.
    return mailId ? 'deleted' : 'seen'
  }

  async function look(stopped: AbortSignal) {
    if (Date.now() < notBefore || !(await isMine())) return undefined
    try {
      const more = await readMailbox(mailbox, stopped, async (raw) => {
        await asks(redis.pexpire(key, every))
        return take(raw)
      })
      mailboxLooks.add(1, 'done')
      failures = 0
      return more ? ('more' as const) : undefined
    } catch (error) {
      if (stopped.aborted) return undefined
      mailboxLooks.add(1, 'failed')
      notBefore = Date.now() + Math.min(longestPause, every * 2 ** failures++)
      throw error
    }
  }

  return repeat({ work: look, every, retryAfter: Math.min(every, 1000), failed })
}
