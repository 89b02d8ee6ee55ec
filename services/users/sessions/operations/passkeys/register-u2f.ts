import type { RegisterU2FRequest, RegisterU2FResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { begin, checkDomain } from './begin.ts'

export const registerU2F = {
  check: checkDomain,
  ignoresKey: () => true,
  async handle(context: Context, { userId }: RegisterU2FRequest, call: Call): Promise<RegisterU2FResponse> {
    const { id, options, details } = await begin(context, { userId, secondOnly: true }, call)
    return { details, u2fId: id, publicKeyCredentialCreationOptions: options }
  },
}
