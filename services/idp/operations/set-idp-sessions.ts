import { isDeepStrictEqual } from 'node:util'
import type { SetIDPSessionsRequest, SetIDPSessionsResponse } from '#gen/roster/idp/v1/idp_sessions'
import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'

export async function setIdpSessions(
  context: Context,
  { idpId, keepTokens, logoutAtProvider }: SetIDPSessionsRequest,
  call: Call,
): Promise<SetIDPSessionsResponse> {
  const sessions = { keepTokens, logoutAtProvider }
  return changeIdp(context, idpId, call, ({ oidc, oauth, sessions: before }) => {
    // What is refused here would never have an effect.
    const faults = [
      ...(keepTokens && !oidc && !oauth
        ? [{ field: 'keepTokens', description: 'is for OpenID Connect and OAuth 2.0 alone' }]
        : []),
      ...(logoutAtProvider && !oidc ? [{ field: 'logoutAtProvider', description: 'is for OpenID Connect alone' }] : []),
    ]
    if (faults.length > 0) throw invalid(faults)
    if (isDeepStrictEqual(sessions, before ?? { keepTokens: false, logoutAtProvider: false })) return { events: [] }
    return { events: [{ type: 'sessions.set', payload: { sessions } }] }
  })
}
