import type { TestMailRequest, TestMailResponse } from '#gen/roster/notifier/v1/mail_service'
import { RosterError, type Violation } from '#lib/errors'
import { countUse } from '#lib/eventstore/count-use'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { checkSender } from '../test-mail/check-sender.ts'
import { sendTestMail } from '../test-mail/send-test-mail.ts'
import { writtenAddress } from '../mails/smtp/written.ts'

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
    const retryAfter = await countUse(sql, use)
    if (retryAfter) throw throttled(retryAfter)
    // Timers of Node.js want whole milliseconds.
    const within = Math.max(1, Math.floor(Math.min(longest, call.deadline - Date.now() - answerTakes)))
    const [sent, senderChecks] = await Promise.all([
      sendTestMail(mailSettings, writtenAddress(email), within),
      checkSender(mailSettings, within),
    ])
    return { ...sent, sender: mailSettings.MAIL_FROM.address, senderChecks }
  },
}

function throttled(retryAfter: number) {
  const message = 'Too many test mails were sent of late.'
  return new RosterError('RESOURCE_EXHAUSTED', 'TEST_MAILS_THROTTLED', message, { retryAfter })
}
