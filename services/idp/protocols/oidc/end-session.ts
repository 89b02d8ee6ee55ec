import { faultOf } from '../../check-urls.ts'
import type { SignOutThere, Upstream } from '../protocol.ts'
import { describe } from './begin.ts'

/** Characters of a hint in an address: servers take a few thousand. Without it, the provider asks the person. */
const longestHint = 4096

/** Where a browser signs out at the provider (OpenID Connect RP-Initiated Logout 1.0). */
export async function endSession(
  upstream: Upstream<'oidc'>,
  { state, idTokenHint, returnUri, uiLocales }: SignOutThere,
): Promise<URL | undefined> {
  const { end_session_endpoint: endpoint } = await describe(upstream)
  if (endpoint === undefined || faultOf(endpoint) !== undefined) return undefined
  const to = new URL(endpoint)
  const hint = idTokenHint !== undefined && idTokenHint.length <= longestHint && { id_token_hint: idTokenHint }
  const parameters = {
    ...(hint || { client_id: upstream.configuration.clientId }),
    post_logout_redirect_uri: returnUri,
    state,
    ...(uiLocales !== '' && { ui_locales: uiLocales }),
  }
  for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
  return to
}
