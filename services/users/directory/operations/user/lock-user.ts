import type { LockUserRequest, LockUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import type { Context } from '../../../context.ts'

export async function lockUser(context: Context, { userId }: LockUserRequest, call: Call): Promise<LockUserResponse> {
  return changeState(context, userId, call, ({ locked }) => {
    if (locked) throw new RosterError('FAILED_PRECONDITION', 'USER_ALREADY_LOCKED', 'The user is locked already.')
    return { events: [{ type: 'locked', payload: {} }], answer: undefined }
  })
}
