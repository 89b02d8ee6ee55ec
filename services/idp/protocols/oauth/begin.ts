import { scopesOf } from './scopes.ts'
import { challengeOf } from '../code-answer.ts'
import type { Begun, Upstream } from '../protocol.ts'

/**
 * Sends the browser to the provider. PKCE is always sent: who does not know it passes over it (RFC 6749, 3.1). What a request
 * wants of the sign-in has no parameter in OAuth 2.0, and the answer has no time of a sign-in.
 */
export async function begin(
  { configuration, redirectUri }: Upstream<'oauth'>,
  { state, codeVerifier }: Begun,
): Promise<URL> {
  const { authorizationEndpoint, clientId } = configuration
  const scopes = scopesOf(configuration)
  const to = new URL(authorizationEndpoint)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    state,
    ...challengeOf(codeVerifier),
  }
  for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
  return to
}
