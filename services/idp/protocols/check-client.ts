import type { AuthorizationServer, ClientAuth } from 'oauth4webapi'
import * as oauth from 'oauth4webapi'
import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import type { FetchInit } from '#lib/outbound/guarded-fetch'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'
import { asObject, doubtful, faulty, notChecked, passed, plain } from './checks.ts'
import type { Upstream } from './protocol.ts'

/** How the requests of oauth4webapi reach a provider. */
export function requestOptions({ fetch }: Pick<Upstream, 'fetch'>) {
  return {
    [oauth.customFetch]: (url: string, init: FetchInit) => fetch(url, init),
    // Whether an address without TLS may be called, the guarded fetch decides.
    [oauth.allowInsecureRequests]: true,
  }
}

/**
 * How Roster proves itself by a secret: as the provider wants it. Undefined: it takes no secret. Some providers, such as
 * LemonLDAP::NG, do not decode what Basic has to encode. They get it in the form, where they take that.
 */
export function clientAuthentication(
  server: AuthorizationServer,
  clientId: string,
  secret: string,
): ClientAuth | undefined {
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const isEncoded = [clientId, secret].some((text) => encode(text) !== text)
  if (methods.includes('client_secret_post') && (isEncoded || !methods.includes('client_secret_basic')))
    return oauth.ClientSecretPost(secret)
  return methods.includes('client_secret_basic') ? basic(secret) : undefined
}

/** By the header. RFC 6749 (2.3.1) encodes both as a form does: oauth4webapi encodes even `-` and `_`, which a form leaves. */
export function basic(secret: string): ClientAuth {
  return (_, { client_id: clientId }, __, headers) =>
    headers.set('authorization', `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`)
}

const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')

/** The errors of a code that nobody gave: whoever says so has taken the secret. The second is GitHub's. */
export const ofCode = ['invalid_grant', 'bad_verification_code']
const ofClient = ['invalid_client', 'incorrect_client_credentials']

/** Sends a code that no provider gave: who looks at the secret first, as RFC 6749 (3.2.1) has it, shows whether it is right. */
export async function checkClient(
  { secret, redirectUri, fetch }: Upstream<'oidc' | 'oauth'>,
  server: AuthorizationServer,
  clientId: string,
): Promise<IDPCheck> {
  const [kind, url] = [Kind.IDP_CHECK_KIND_CLIENT, server.token_endpoint ?? '']
  if ('fault' in secret) return faulty(kind, url, secret.fault)
  const authentication = clientAuthentication(server, clientId, secret.secret)
  if (!authentication) {
    const methods = server.token_endpoint_auth_methods_supported!.join(', ')
    return faulty(kind, url, `It wants to be shown who asks by ${plain(methods)}, and Roster sends a client secret.`)
  }
  const parameters = { code: 'roster-tests-the-client', redirect_uri: redirectUri, code_verifier: 'roster'.repeat(8) }
  let answer: Response
  try {
    answer = await oauth.genericTokenEndpointRequest(
      server,
      { client_id: clientId },
      authentication,
      'authorization_code',
      parameters,
      requestOptions({ fetch }),
    )
  } catch (error) {
    return faulty(kind, url, `It does not answer: ${wordsOfFailure(error)}.`)
  }
  const { error } = asObject(await answer.text()) ?? {}
  const said = typeof error === 'string' ? plain(error) : ''
  if (ofCode.includes(said)) return passed(kind, url)
  if (ofClient.includes(said) || answer.status === 401)
    return faulty(kind, url, `It knows no client with this id and this secret (${said || answer.status}).`)
  if (said === 'unauthorized_client')
    return faulty(kind, url, 'It does not let this client use authorization codes (unauthorized_client).')
  if (answer.status === 404) return faulty(kind, url, 'It answers with the status 404: the address is wrong.')
  if (said === '') return doubtful(kind, url, `It answers with the status ${answer.status}, and names no error.`)
  return notChecked(kind, url, `It answers ${said}: whether the secret is right does not show.`)
}
