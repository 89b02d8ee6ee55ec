import type { IntrospectTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Call } from '#lib/rpc/headers'
import { findPerson } from '../authorization/later-facts.ts'
import type { Context } from '../../context.ts'
import type { Client } from '../clients/client.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { readRefreshToken } from '../tokens/refresh-token.ts'
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
  const { state, readAt } = person.authorization
  const { refreshTokens } = state
  if (!refreshTokens || readAt.getTime() >= Date.parse(refreshTokens.expiresAt)) return undefined
  if (useOf(refreshTokens, presented, readAt) === 'stolen') return undefined
  const { userId, organizationId, scopes } = person.allowed
  return {
    clientId: client.application.clientId,
    scope: scopes.join(' '),
    sub: userId,
    organization: organizationId,
    exp: Math.floor(Date.parse(refreshTokens.expiresAt) / 1000),
    iss: issuerOf(context.config),
  }
}
