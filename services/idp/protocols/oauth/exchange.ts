import * as oauth from 'oauth4webapi'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'
import { basic, ofCode, requestOptions } from '../check-client.ts'
import { asObject, plain } from '../checks.ts'
import { type GivenTokens, type Upstream, UpstreamError } from '../protocol.ts'

// RFC 6749 (2.3.1) has every server take the first. Some take the second alone, and refuse the first in words of their own.
const ways = [basic, oauth.ClientSecretPost]

/** What a code is worth. A code that the provider looked at and refused is not shown again. */
export async function exchange(
  { configuration: { clientId, tokenEndpoint }, secret, redirectUri, fetch }: Upstream<'oauth'>,
  code: string,
  codeVerifier: string,
): Promise<GivenTokens> {
  if ('fault' in secret) throw new UpstreamError('not-available', secret.fault)
  let said = ''
  for (const way of ways) {
    const answer = await asked(() =>
      oauth.genericTokenEndpointRequest(
        { issuer: tokenEndpoint, token_endpoint: tokenEndpoint },
        { client_id: clientId },
        way(secret.secret),
        'authorization_code',
        { code, redirect_uri: redirectUri, code_verifier: codeVerifier },
        requestOptions({ fetch }),
      ),
    )
    if (answer.status >= 500)
      throw new UpstreamError('not-available', `The token endpoint answers with the status ${answer.status}.`)
    const body = asObject(await answer.text()) ?? {}
    if (answer.status === 200 && body['error'] === undefined) return tokensOf(body)
    // GitHub says its errors with the status 200.
    said = typeof body['error'] === 'string' ? plain(body['error']) : String(answer.status)
    if (answer.status < 400 && answer.status !== 200) break
    if (ofCode.includes(said)) break
  }
  throw new UpstreamError('not-believed', `The provider refuses the code: ${said}.`)
}

function tokensOf({ access_token: token, token_type: type, ...more }: Record<string, unknown>): GivenTokens {
  const isToken = typeof token === 'string' && /^[\x21-\x7e]{1,8192}$/.test(token)
  // A token of another type is to be proved at each use, which Roster cannot do.
  if (isToken && typeof type === 'string' && type.toLowerCase() === 'bearer')
    return {
      accessToken: token,
      expiresIn: typeof more['expires_in'] === 'number' ? more['expires_in'] : undefined,
      scope: typeof more['scope'] === 'string' ? more['scope'] : undefined,
    }
  throw new UpstreamError('not-believed', 'The token endpoint gives no bearer token.')
}

async function asked(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    throw new UpstreamError('not-available', `The token endpoint does not answer: ${wordsOfFailure(error)}.`, error)
  }
}
