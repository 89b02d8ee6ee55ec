import type { RecordEmailCodeRequest, RecordEmailCodeResponse } from '#gen/roster/users/v1/internal_service'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { User, UserEvent } from '../../vocabulary/user.ts'

export async function recordEmailCode(
  { store }: Context,
  request: RecordEmailCodeRequest,
  call: Call,
): Promise<RecordEmailCodeResponse> {
  await store.execute({
    aggregate: { type: 'user', id: request.userId },
    call,
    decide: (user: Aggregate<User>) => decide(user, request),
  })
  return {}
}

function decide({ state }: Aggregate<User>, { codeId, failure }: RecordEmailCodeRequest): Decision<UserEvent> {
  const code = state?.human?.code
  if (code?.codeId !== codeId || code.delivery !== 'pending') return { events: [], answer: undefined }
  const event: UserEvent =
    failure === undefined
      ? { type: 'email.code.sent', payload: { codeId } }
      : { type: 'email.code.failed', payload: { codeId, failure } }
  return { events: [event], answer: undefined }
}
