import type { RecordEmailCodeRequest, RecordEmailCodeResponse } from '#gen/roster/users/v1/internal_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { awaitsMail, type CodeMail, type CodeMailEvent, codeMailType } from '../../vocabulary/code-mail.ts'
import type { User } from '../../vocabulary/user.ts'

export async function recordEmailCode(
  { store }: Context,
  request: RecordEmailCodeRequest,
  call: Call,
): Promise<RecordEmailCodeResponse> {
  await store.execute({
    aggregate: { type: codeMailType, id: request.userId },
    reads: [{ type: 'user', id: request.userId }],
    call,
    decide: (mail: Aggregate<CodeMail>, _now, [user]) => decide(mail, user!, request),
  })
  return {}
}

function decide(
  mail: Aggregate<CodeMail>,
  { organizationId, state }: Aggregate<User>,
  { codeId, failure }: RecordEmailCodeRequest,
): Decision<CodeMailEvent> {
  if (!awaitsMail(state?.human?.code, codeId, mail.state)) return { events: [], answer: undefined }
  const event: CodeMailEvent =
    failure === undefined ? { type: 'sent', payload: { codeId } } : { type: 'failed', payload: { codeId, failure } }
  return { organizationId, events: [event], answer: undefined }
}
