import type { VerifyU2FRegistrationRequest, VerifyU2FRegistrationResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { finish } from './finish.ts'

export const verifyU2FRegistration = {
  ignoresKey: () => true,
  handle(
    context: Context,
    { userId, u2fId: passkeyId, publicKeyCredential: credential, tokenName: name }: VerifyU2FRegistrationRequest,
    call: Call,
  ): Promise<VerifyU2FRegistrationResponse> {
    return finish(context, { userId, passkeyId, credential, name, secondOnly: true }, call)
  },
}
