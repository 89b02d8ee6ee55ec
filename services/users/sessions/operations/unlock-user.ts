import type { UnlockUserRequest, UnlockUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { lockedFactors, unlocking } from '../factors/guesses.ts'
import type { UserEvent } from '../../directory/events/user.ts'
import { changeState } from '../../directory/states/change-state.ts'
import type { Context } from '../../context.ts'

export async function unlockUser(
  context: Context,
  { userId }: UnlockUserRequest,
  call: Call,
): Promise<UnlockUserResponse> {
  const kinds = await lockedFactors(context, userId)
  return changeState(context, userId, call, ({ locked }) => {
    if (!locked && kinds.length === 0)
      throw new RosterError('FAILED_PRECONDITION', 'USER_NOT_LOCKED', 'Neither the user nor a second factor is locked.')
    const ofFactors = kinds.map((kind): UserEvent => ({ type: 'factor.unlocked', payload: { kind } }))
    const events: UserEvent[] = locked ? [{ type: 'unlocked', payload: {} }, ...ofFactors] : ofFactors
    return { events, writes: kinds.length > 0 ? [unlocking(userId, kinds)] : [], answer: undefined }
  })
}
