import type {
  VerifyPasskeyRegistrationRequest,
  VerifyPasskeyRegistrationResponse,
} from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { finish } from './finish.ts'

export const verifyPasskeyRegistration = {
  // Its answer would say whether it was sent before, without using the challenge up.
  ignoresKey: () => true,
  async handle(
    context: Context,
    { userId, passkeyId, publicKeyCredential: credential, passkeyName: name }: VerifyPasskeyRegistrationRequest,
    call: Call,
  ): Promise<VerifyPasskeyRegistrationResponse> {
    return finish(context, { userId, passkeyId, credential, name, secondOnly: false }, call)
  },
}
