import {
  type MailEnd,
  MailKind,
  type RecordEmailCodeRequest,
  type RecordEmailCodeResponse,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { telemetry } from '#lib/telemetry/telemetry'
import type { Context } from '../context.ts'
import { awaitsMail, type CodeMail, type CodeMailEvent, codeMailType } from '../directory/events/code-mail.ts'
import { eachMail } from './each-mail.ts'
import { type Notices, type NoticeEvent, noticeType } from '../directory/events/notice.ts'
import { type PasswordCode, type PasswordCodeEvent, passwordCodeType } from '../directory/events/password-code.ts'
import { userKey } from '../directory/events/user.ts'

export async function recordEmailCode(
  { store, sql, log }: Context,
  { mails, ...one }: RecordEmailCodeRequest,
  call: Call,
): Promise<RecordEmailCodeResponse> {
  const stored = { store, sql }
  if (mails.length === 0) {
    await record(stored, one, call)
    return { recorded: [] }
  }
  const ends = await eachMail(log, mails, (mail) =>
    inOwnTrace(mail, () => record(stored, mail, { ...call, requestId: mail.codeId, cause: mail.cause })),
  )
  return { recorded: ends.map(({ done }) => done) }
}

// The mails of a call belong to many traces, or to none.
function inOwnTrace({ traceparent }: MailEnd, work: () => Promise<void>): Promise<void> {
  const { tracing } = telemetry
  return tracing ? tracing.together({ name: 'record mail' }, traceparent ? [traceparent] : [], work) : work()
}

async function record(
  { store, sql }: Pick<Context, 'store' | 'sql'>,
  mail: Omit<MailEnd, 'cause' | 'traceparent'>,
  call: Call,
): Promise<void> {
  const { userId, codeId, failure, kind } = mail
  const reads = { user: userKey(userId) }
  if (kind === MailKind.MAIL_KIND_REGISTRATION)
    // There is no user who could have an event.
    await orUnavailable(sql`delete from unsent_mails where mail_id = ${codeId} and kind = 'registration'`)
  else if (kind === MailKind.MAIL_KIND_PASSWORD_RESET)
    await store.execute({
      aggregate: { type: passwordCodeType, id: userId },
      call,
      decide: ({ state }: Aggregate<PasswordCode>): Decision<PasswordCodeEvent> =>
        state?.codeId === codeId && state.delivery === 'pending' ? ended({ codeId }, failure) : unchanged,
    })
  else if (kind === MailKind.MAIL_KIND_EMAIL_CHANGED)
    await store.execute({
      aggregate: { type: noticeType, id: userId },
      reads,
      call,
      decide: ({ state }: Aggregate<Notices>, _now, { user }): Decision<NoticeEvent> =>
        !user.state || state?.settled.includes(codeId)
          ? unchanged
          : { organizationId: user.organizationId, ...ended({ noticeId: codeId }, failure) },
    })
  else
    await store.execute({
      aggregate: { type: codeMailType, id: userId },
      reads,
      call,
      decide: (mail: Aggregate<CodeMail>, _now, { user }): Decision<CodeMailEvent> =>
        awaitsMail(user.state?.human?.code, codeId, mail.state)
          ? { organizationId: user.organizationId, ...ended({ codeId }, failure) }
          : unchanged,
    })
}

const unchanged = { events: [], answer: undefined }

/** How a mail ended. */
function ended<Id extends object>(id: Id, failure: string | undefined) {
  const event =
    failure === undefined
      ? { type: 'sent' as const, payload: id }
      : { type: 'failed' as const, payload: { ...id, failure } }
  return { events: [event], answer: undefined }
}
