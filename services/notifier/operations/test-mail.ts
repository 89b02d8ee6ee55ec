import type { TestMailRequest, TestMailResponse } from '#gen/roster/notifier/v1/mail_service'
import { orUnavailable, type Sql } from '#lib/database/database'
import { RosterError, type Violation } from '#lib/errors'
import { endOfUses } from '#lib/eventstore/end-of-uses'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { checkSender } from '../test-mail/check-sender.ts'
import { sendTestMail } from '../test-mail/send-test-mail.ts'
import { writtenAddress } from '../mails/written.ts'

const longest = 30_000
/** Milliseconds that the answer takes back to the caller. */
const answerTakes = 1000
/** What any sender of spam could use is bounded for all callers together. */
const use = {
  key: 'test mails',
  limits: [
    { most: 5, seconds: 60 },
    { most: 30, seconds: 3600 },
  ],
}

export const testMail = {
  check(_: Context, { email }: TestMailRequest): Violation[] {
    try {
      writtenAddress(email)
      return []
    } catch {
      return [{ field: 'email', description: 'must be an address that can be written in SMTP' }]
    }
  },

  async handle(
    { sql, mailSettings, isDrill }: Context,
    { email }: TestMailRequest,
    call: Call,
  ): Promise<TestMailResponse> {
    if (isDrill)
      throw new RosterError('FAILED_PRECONDITION', 'DRILL_UNDER_WAY', 'In a drill (ROSTER_DRILL), no mail is sent.')
    await countUse(sql)
    // Timers of Node.js want whole milliseconds.
    const within = Math.max(1, Math.floor(Math.min(longest, call.deadline - Date.now() - answerTakes)))
    const [sent, senderChecks] = await Promise.all([
      sendTestMail(mailSettings, writtenAddress(email), within),
      checkSender(mailSettings, within),
    ])
    return { ...sent, sender: mailSettings.MAIL_FROM.address, senderChecks }
  },
}

async function countUse(sql: Sql): Promise<void> {
  const until = await orUnavailable(
    sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(hashtextextended(${use.key}, 0))`
      const over = await endOfUses(transaction as unknown as Sql, [use])
      if (!over) await transaction`insert into uses (key, used_at) values (${use.key}, roster_moment())`
      return over
    }),
  )
  if (!until) return
  const retryAfter = Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1000))
  const message = 'Too many test mails were sent of late.'
  throw new RosterError('RESOURCE_EXHAUSTED', 'TEST_MAILS_THROTTLED', message, { retryAfter })
}
