import type { IntrospectTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Call } from '#lib/rpc/headers'
import { findPerson, type LoadedAuthorization } from '../authorization/later-facts.ts'
import type { Context } from '../../context.ts'
import type { Client } from '../clients/client.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { type PresentedToken, readRefreshToken } from '../tokens/refresh-token.ts'
import { useOf } from '../reuse.ts'

/**
 * What an application is told of a refresh token of its own. Undefined of any other text, and where a use would give
 * nothing. UNAVAILABLE; errors of grants.
 */
export async function describeRefreshToken(
  context: Context,
  client: Client,
  text: string,
  call: Call,
): Promise<Partial<IntrospectTokenResponse> | undefined> {
  const presented = 'machine' in client ? undefined : readRefreshToken(context.keys, text)
  const person = presented && (await findPerson(context, 'refresh', presented.authorizationId, call))
  if (!person || 'machine' in client || person.allowed.application.id !== client.application.id) return undefined
  if (whyUseless(presented, person.authorization)) return undefined
  const { userId, organizationId, scopes } = person.allowed
  return {
    clientId: client.application.clientId,
    scope: scopes.join(' '),
    sub: userId,
    organization: organizationId,
    exp: Math.floor(Date.parse(person.authorization.state.refreshTokens!.expiresAt) / 1000),
    iss: issuerOf(context.config),
  }
}

/** Why the use of a refresh token would give nothing, whatever `judge` says. Undefined: it would. Pure. */
export function whyUseless(
  presented: PresentedToken,
  { state: { refreshTokens }, readAt }: LoadedAuthorization['authorization'],
): 'expired' | 'used' | undefined {
  if (!refreshTokens || readAt.getTime() >= Date.parse(refreshTokens.expiresAt)) return 'expired'
  return useOf(refreshTokens, presented, readAt) === 'stolen' ? 'used' : undefined
}
