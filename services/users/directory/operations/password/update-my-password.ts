import type { UpdateMyPasswordRequest, UpdateMyPasswordResponse } from '#gen/roster/users/v1/password_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changePassword } from '../../passwords/change-password.ts'
import { countGuess } from '../../passwords/current-password.ts'

export const updateMyPassword = {
  /** A replayed request may be a guess, so it counts like any other. */
  beforeReplay: async (context: Context, _request: UpdateMyPasswordRequest, call: Call) =>
    (await countGuess(context, call.caller.userId, call)).takeBack,

  handle: (
    context: Context,
    { oldPassword, newPassword }: UpdateMyPasswordRequest,
    call: Call,
  ): Promise<UpdateMyPasswordResponse> => {
    const proof = { kind: 'password' as const, password: oldPassword, field: 'oldPassword' }
    return changePassword(context, { userId: call.caller.userId, newPassword, field: 'newPassword', proof }, call)
  },
}
