import { randomUUID } from 'node:crypto'
import type { ResendEmailCodeRequest, ResendEmailCodeResponse } from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Context } from '../../context.ts'
import { checkVerification, codeRequested, requestCode, templateOf } from '../../email/verification.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { throttle } from '../../throttles/throttle.ts'
import { humanOf, type User, type UserEvent } from '../../vocabulary/user.ts'

export const resendEmailCode = {
  async permit(request: ResendEmailCodeRequest, call: Call, holdsPermission: boolean, context: Context): Promise<void> {
    const { userId, verification } = request
    const isReturned = verification?.$case === 'returnCode'
    if (isReturned && !holdsPermission) throw permissionDenied()
    // A caller's own link brings the code to the caller as well.
    if (isReturned || templateOf(verification) !== undefined) await requireMayActOn(context, userId, call)
  },

  check: (
    context: Context,
    { verification }: ResendEmailCodeRequest,
    _call: Call,
    holdsPermission: boolean,
  ): Violation[] => checkVerification(context, verification, holdsPermission),

  async handle(context: Context, request: ResendEmailCodeRequest, call: Call): Promise<ResendEmailCodeResponse> {
    const codeId = randomUUID()
    const askedBy = call.caller.userId === request.userId ? undefined : call.caller.userId
    return context.store.execute({
      aggregate: { type: 'user', id: request.userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(context, user, codeId, { request, askedBy }, now),
      respond: ({ after, answer: verificationCode }) => ({ details: details(after), verificationCode }),
    })
  },
}

function decide(
  context: Context,
  { id, organizationId, state }: Aggregate<User>,
  codeId: string,
  { request: { verification }, askedBy }: { request: ResendEmailCodeRequest; askedBy: string | undefined },
  now: Date,
): Decision<UserEvent, string | undefined> {
  const human = humanOf(state)
  if (human.isVerified)
    throw new RosterError('FAILED_PRECONDITION', 'EMAIL_ALREADY_VERIFIED', 'The address is verified already.')
  const code = requestCode(context, verification, { codeId, userId: id, email: human.email, organizationId }, now)!
  if (code.returned === undefined) {
    throttle(human.resends, 5, 3600, now, 'CODE_THROTTLED')
    throttle(human.resends, 1, 60, now, 'CODE_THROTTLED')
  }
  const { event, uses } = codeRequested(code, 'resend', askedBy)
  return { events: [event], uses, answer: code.returned }
}
