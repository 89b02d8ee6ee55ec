import { createHash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { plain } from './checks.ts'
import { UpstreamError } from './protocol.ts'

/** What PKCE shows of a verifier before it shows the verifier (RFC 7636, 4.2). */
export function challengeOf(codeVerifier: string) {
  return {
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
}

/** The parameters that came back, once `state` is that of the sign-in, and `iss` the provider's where it is sent. */
export function readCodeAnswer(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  answer: URLSearchParams,
  state: string,
): URLSearchParams {
  if (answer.getAll('code').length > 1) throw new UpstreamError('not-asked-for', 'The answer has several codes.')
  try {
    return oauth.validateAuthResponse(server, client, answer, state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError)
      throw new UpstreamError('denied', `The provider answers ${plain(error.error)}.`, error)
    throw new UpstreamError('not-asked-for', 'The answer is not of this sign-in.', error)
  }
}
