import type { RegisterTOTPRequest, RegisterTOTPResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { beginTotp } from '../../factors/totp/set-up.ts'
import { bindingOf, mayAddBy, permitAdding } from '../../change-factors.ts'
import { requireVouchingSession } from '../../login-client-session.ts'

export const registerTOTP = {
  permit: permitAdding,
  // It has no event that an answer could be kept with.
  ignoresKey: () => true,

  async handle(context: Context, { userId }: RegisterTOTPRequest, call: Call): Promise<RegisterTOTPResponse> {
    const own = await requireVouchingSession(context, userId, call, { setsUp: true })
    const { text: secret, ...made } = await beginTotp(context, bindingOf(userId, call), mayAddBy(own), call)
    return { ...made, secret }
  },
}
