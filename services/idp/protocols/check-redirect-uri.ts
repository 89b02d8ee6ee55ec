import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'
import { faulty, notChecked, passed, plain } from './checks.ts'
import type { Upstream } from './protocol.ts'

/** The errors of a request that may show no page: its addresses are right. */
const ofSilence = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
  'access_denied',
]

/**
 * Sends a request that may show no page (`prompt=none`), without a browser: a provider that knows the redirect URI sends
 * the error there, and one that does not must not (RFC 6749, 4.1.2.1).
 */
export async function checkRedirectUri(
  { redirectUri, fetch }: Pick<Upstream, 'redirectUri' | 'fetch'>,
  authorizationEndpoint: string,
  parameters: Record<string, string>,
): Promise<IDPCheck> {
  const [kind, url] = [Kind.IDP_CHECK_KIND_REDIRECT_URI, authorizationEndpoint]
  const to = new URL(authorizationEndpoint)
  const all = { response_type: 'code', redirect_uri: redirectUri, prompt: 'none', state: 'roster', ...parameters }
  for (const [name, value] of Object.entries(all)) to.searchParams.set(name, value)
  let answer: Response
  try {
    answer = await fetch(to)
  } catch (error) {
    // Only browsers go there, so it may be where Roster is not.
    return notChecked(kind, url, `Roster itself gets no answer there: ${wordsOfFailure(error)}.`)
  }
  const location = answer.headers.get('location') ?? ''
  if (location !== '' && URL.canParse(location, to.href)) {
    const back = new URL(location, to)
    if (`${back.origin}${back.pathname}` === redirectUri)
      return ofError(kind, url, back.searchParams.get('error') ?? '')
  }
  if ([400, 401, 404].includes(answer.status))
    return faulty(
      kind,
      url,
      `It refuses the request (${answer.status}): register the redirect URI there, letter by letter, for this client id.`,
    )
  return notChecked(kind, url, 'It answers with a page of its own: whether it knows the redirect URI does not show.')
}

function ofError(kind: Kind, url: string, error: string): IDPCheck {
  if (error === '' || ofSilence.includes(error)) return passed(kind, url)
  return faulty(kind, url, `It knows the redirect URI, and refuses the request: ${plain(error)}.`)
}
