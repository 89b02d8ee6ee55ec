import type { ResendEmailCodeRequest, ResendEmailCodeResponse } from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Context } from '../context.ts'
import { checkVerification, codeRequested, requestCode } from '../email-verification.ts'
import { throttle } from '../throttle.ts'
import { humanOf, type User, type UserEvent } from '../vocabulary.ts'

export const resendEmailCode = {
  permit({ verification }: ResendEmailCodeRequest, _call: Call, holdsPermission: boolean): void {
    if (verification?.$case === 'returnCode' && !holdsPermission) throw permissionDenied()
  },

  check: (context: Context, { verification }: ResendEmailCodeRequest): Violation[] =>
    checkVerification(context, verification),

  async handle(context: Context, request: ResendEmailCodeRequest, call: Call): Promise<ResendEmailCodeResponse> {
    return context.store.execute({
      aggregate: { type: 'user', id: request.userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(context, user, request, now),
      respond: ({ after, answer: verificationCode }) => ({ details: details(after), verificationCode }),
    })
  },
}

function decide(
  context: Context,
  { id, state }: Aggregate<User>,
  { verification }: ResendEmailCodeRequest,
  now: Date,
): Decision<UserEvent, string | undefined> {
  const human = humanOf(state)
  if (human.isVerified)
    throw new RosterError('FAILED_PRECONDITION', 'EMAIL_ALREADY_VERIFIED', 'The address is verified already.')
  const code = requestCode(context, verification, { userId: id, email: human.email }, now)!
  if (code.returned === undefined) {
    throttle(human.resends, 5, 3600, now, 'CODE_THROTTLED')
    throttle(human.resends, 1, 60, now, 'CODE_THROTTLED')
  }
  return { events: [codeRequested(code, 'resend')], answer: code.returned }
}
