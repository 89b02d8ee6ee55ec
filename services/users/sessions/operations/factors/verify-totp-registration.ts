import type { VerifyTOTPRegistrationRequest, VerifyTOTPRegistrationResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { confirmTotp } from '../../factors/totp/set-up.ts'
import { bindingOf, mayAddBy, permitAdding } from '../../change-factors.ts'
import { requireVouchingSession } from '../../login-client-session.ts'

export const verifyTOTPRegistration = {
  permit: permitAdding,

  async handle(
    context: Context,
    { userId, code }: VerifyTOTPRegistrationRequest,
    call: Call,
  ): Promise<VerifyTOTPRegistrationResponse> {
    const own = await requireVouchingSession(context, userId, call, { setsUp: true })
    const typed = { binding: bindingOf(userId, call), typed: code, field: 'code' }
    return confirmTotp(context, typed, mayAddBy(own), call)
  },
}
