import type { RegisterPasskeyRequest, RegisterPasskeyResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { begin, checkDomain } from './begin.ts'

export const registerPasskey = {
  check: checkDomain,
  // Its answer has a challenge, which is good once.
  ignoresKey: () => true,
  async handle(context: Context, request: RegisterPasskeyRequest, call: Call): Promise<RegisterPasskeyResponse> {
    const { id, options, details } = await begin(context, { ...request, secondOnly: false }, call)
    return { details, passkeyId: id, publicKeyCredentialCreationOptions: options }
  },
}
