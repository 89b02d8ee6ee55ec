import type { UnlockUserRequest, UnlockUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import type { Context } from '../../../context.ts'

export async function unlockUser(
  context: Context,
  { userId }: UnlockUserRequest,
  call: Call,
): Promise<UnlockUserResponse> {
  return changeState(context, userId, call, ({ locked }) => {
    if (!locked) throw new RosterError('FAILED_PRECONDITION', 'USER_NOT_LOCKED', 'The user is not locked.')
    return { events: [{ type: 'unlocked', payload: {} }], answer: undefined }
  })
}
