import type { ResetPasswordRequest, ResetPasswordResponse } from '#gen/roster/users/v1/password_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { changePassword } from '../../passwords/change-password.ts'

export async function resetPassword(
  context: Context,
  { userId, verificationCode, newPassword }: ResetPasswordRequest,
  call: Call,
): Promise<ResetPasswordResponse> {
  return changePassword(
    context,
    { userId, newPassword, field: 'newPassword', proof: { kind: 'code', code: verificationCode } },
    call,
  )
}
