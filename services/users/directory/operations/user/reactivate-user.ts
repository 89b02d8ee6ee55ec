import type { ReactivateUserRequest, ReactivateUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import type { Context } from '../../../context.ts'

export async function reactivateUser(
  context: Context,
  { userId }: ReactivateUserRequest,
  call: Call,
): Promise<ReactivateUserResponse> {
  return changeState(context, userId, call, ({ inactive }) => {
    if (!inactive) throw new RosterError('FAILED_PRECONDITION', 'USER_NOT_INACTIVE', 'The user is not deactivated.')
    return { events: [{ type: 'reactivated', payload: {} }], answer: undefined }
  })
}
