import type { DeleteUserRequest, DeleteUserResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import { removedUser } from '../../states/removed-user.ts'
import type { Context } from '../../context.ts'

export async function deleteUser(
  context: Context,
  { userId }: DeleteUserRequest,
  call: Call,
): Promise<DeleteUserResponse> {
  return changeState(context, userId, call, removedUser)
}
