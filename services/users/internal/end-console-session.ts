import type { EndConsoleSessionRequest, EndConsoleSessionResponse } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { findConsolePerson } from '../openid/console/console-cookie.ts'
import { endSession } from '../sessions/sessions.ts'

export async function endConsoleSession(
  context: Context,
  { cookieHash }: EndConsoleSessionRequest,
  call: Call,
): Promise<EndConsoleSessionResponse> {
  const { token, authorization } = await findConsolePerson(context, cookieHash, call)
  const { requestId, deadline } = call
  await context.store.execute({
    ...endSession(authorization.state.sessionId),
    call: { caller: { userId: token.userId }, requestId, deadline },
  })
  return {}
}
