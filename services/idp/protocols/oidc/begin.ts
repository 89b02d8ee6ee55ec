import { randomBytes } from 'node:crypto'
import type { AuthorizationServer } from 'oauth4webapi'
import { faultOf } from '../../check-urls.ts'
import { presetOf } from '../../presets.ts'
import { challengeOf } from '../code-answer.ts'
import { type Begun, type Upstream, UpstreamError, type Wish } from '../protocol.ts'
import { checkCallback } from './common-callback.ts'
import { discover } from './discovery.ts'
import { scopesOf } from './scopes.ts'

/** The secrets of a sign-in that begins now. */
export function newBegun(): Begun {
  const secret = () => randomBytes(32).toString('base64url')
  return { state: secret(), nonce: secret(), codeVerifier: secret() }
}

/** The description of the provider, or why it does not serve now. */
export async function describe({ fetch, configuration }: Upstream<'oidc'>): Promise<AuthorizationServer> {
  const found = await discover(fetch, configuration)
  if ('problem' in found) throw new UpstreamError('not-available', found.problem)
  return found.server
}

/** Sends the browser to the provider. PKCE, state and nonce bind the answer to this sign-in. */
export async function begin(
  upstream: Upstream<'oidc'>,
  { state, nonce, codeVerifier }: Begun,
  { loginHint, promptsLogin, maxAge }: Wish,
): Promise<URL> {
  const server = await describe(upstream)
  checkCallback(upstream.configuration, server)
  const { authorization_endpoint: endpoint } = server
  if (endpoint === undefined || faultOf(endpoint) !== undefined)
    throw new UpstreamError('not-available', 'It names no address with TLS for authorization_endpoint.')
  const to = new URL(endpoint)
  const parameters = {
    response_type: 'code',
    client_id: upstream.configuration.clientId,
    redirect_uri: upstream.redirectUri,
    ...(presetOf(upstream.configuration).postsAnswer && { response_mode: 'form_post' }),
    scope: scopesOf(upstream.configuration).join(' '),
    state,
    nonce,
    ...challengeOf(codeVerifier),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(promptsLogin && { prompt: 'login' }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
  }
  for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
  return to
}
