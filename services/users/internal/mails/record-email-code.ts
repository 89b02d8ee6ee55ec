import type { MailEnd, RecordEmailCodeRequest, RecordEmailCodeResponse } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import { telemetry } from '#lib/telemetry/telemetry'
import type { Context } from '../../context.ts'
import { eachMail } from './each-mail.ts'
import { kindOf } from './mail-kinds.ts'

export async function recordEmailCode(
  context: Context,
  { mails, ...one }: RecordEmailCodeRequest,
  call: Call,
): Promise<RecordEmailCodeResponse> {
  if (mails.length === 0) {
    await kindOf(one.kind).end(context, one, call)
    return { recorded: [] }
  }
  const ends = await eachMail(context.log, mails, (mail) =>
    inOwnTrace(mail, () =>
      kindOf(mail.kind).end(context, mail, { ...call, requestId: mail.codeId, cause: mail.cause }),
    ),
  )
  return { recorded: ends.map(({ done }) => done) }
}

// The mails of a call belong to many traces, or to none.
function inOwnTrace({ traceparent }: MailEnd, work: () => Promise<void>): Promise<void> {
  const { tracing } = telemetry
  return tracing ? tracing.together({ name: 'record mail' }, traceparent ? [traceparent] : [], work) : work()
}
