import { randomUUID } from 'node:crypto'
import type { ResendEmailCodeRequest, ResendEmailCodeResponse } from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Context } from '../../../context.ts'
import {
  checkVerification,
  codeRequested,
  requestCode,
  templateOf,
  type Verification,
} from '../../email/verification.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { readProof } from '../../login-names/read-proofs.ts'
import { vouching } from '../../login-names/vouching.ts'
import { throttle } from '../../rate-limits/throttle.ts'
import type { VouchedOn } from '../../events/code.ts'
import type { NewMail } from '../../email/new-mail.ts'
import { humanOf, type User, type UserEvent } from '../../events/user.ts'

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

  async handle(
    context: Context,
    request: ResendEmailCodeRequest,
    call: Call,
  ): Promise<ResendEmailCodeResponse & NewMail> {
    const codeId = randomUUID()
    const { userId, verification } = request
    const user = await context.store.load<User>('user', userId)
    const human = user?.state.human
    const vouch = await vouching(context, user?.organizationId ?? '', [verification], call)
    const isProved = (await readProof(context, userId, human)) !== 'organization'
    const asked = { verification, isProved, callerId: call.caller.userId, vouchedOn: vouch(human?.email ?? '') }
    return context.store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(context, user, codeId, asked, now),
      respond: ({ after, answer: verificationCode }) => ({ details: details(after), verificationCode, mailId: codeId }),
    })
  },
}

function decide(
  context: Context,
  { id, organizationId, state }: Aggregate<User>,
  codeId: string,
  asked: { verification?: Verification; isProved: boolean; callerId: string; vouchedOn: VouchedOn | undefined },
  now: Date,
): Decision<UserEvent, string | undefined> {
  const human = humanOf(state)
  const { verification } = asked
  // What the organization alone says, the person may prove.
  if (human.isVerified && asked.isProved)
    throw new RosterError('FAILED_PRECONDITION', 'EMAIL_ALREADY_VERIFIED', 'The address is verified already.')
  const code = requestCode(context, verification, { codeId, userId: id, email: human.email, organizationId }, now)!
  if (code.returned === undefined) {
    throttle(human.resends, 5, 3600, now, 'CODE_THROTTLED')
    throttle(human.resends, 1, 60, now, 'CODE_THROTTLED')
  }
  const { event, uses } = codeRequested(code, 'resend', { ...asked, userId: id })
  return { events: [event], uses, answer: code.returned }
}
