import type { DeactivateUserRequest, DeactivateUserResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import type { Context } from '../../../context.ts'

export async function deactivateUser(
  context: Context,
  { userId }: DeactivateUserRequest,
  call: Call,
): Promise<DeactivateUserResponse> {
  return changeState(context, userId, call, ({ inactive }) => {
    if (inactive)
      throw new RosterError('FAILED_PRECONDITION', 'USER_ALREADY_INACTIVE', 'The user is deactivated already.')
    return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
  })
}
