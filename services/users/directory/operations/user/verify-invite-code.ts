import type { VerifyInviteCodeRequest, VerifyInviteCodeResponse } from '#gen/roster/users/v1/user_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { decideByInvite, findRightInvite, provedByInvite } from '../../passwords/invite-code.ts'
import type { User } from '../../events/user.ts'
import { codeInvalid } from './verify-email.ts'

/** Every mistake gets one answer, as VerifyEmail. */
export async function verifyInviteCode(
  context: Context,
  { userId, verificationCode: typed }: VerifyInviteCodeRequest,
  call: Call,
): Promise<VerifyInviteCodeResponse> {
  const accepted = await findRightInvite(context, { userId, typed }, call)
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide(user: Aggregate<User>, now) {
      const { isRight, ...decision } = decideByInvite(context.keys, user, { typed, accepted }, now, (invite) => [
        ...provedByInvite(invite),
        { type: 'invite.code.used', payload: { codeId: invite.codeId } },
      ])
      return isRight ? decision : { ...decision, error: codeInvalid() }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
