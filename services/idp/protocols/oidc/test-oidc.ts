import type { AuthorizationServer } from 'oauth4webapi'
import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { faultOf } from '../../check-urls.ts'
import { checkClient } from '../check-client.ts'
import { checkClock } from '../check-clock.ts'
import { checkKeys, signatureAlgorithms } from '../check-keys.ts'
import { mappingOf } from '../claims.ts'
import { checkRedirectUri } from '../check-redirect-uri.ts'
import { doubtful, faulty, notChecked, passed, plain, spoken } from '../checks.ts'
import type { Configurations } from '../../vocabulary.ts'
import type { Upstream } from '../protocol.ts'
import { faultOfCallback } from './common-callback.ts'
import { discover, discoveryUrl } from './discovery.ts'
import { scopesOf } from './scopes.ts'

export async function testOidc(upstream: Upstream<'oidc'>): Promise<IDPCheck[]> {
  const { configuration, fetch, clockAhead } = upstream
  const url = discoveryUrl(configuration.issuer)
  const found = await discover(fetch, configuration)
  if ('problem' in found) {
    const rest = afterDiscovery.map((kind) =>
      notChecked(kind, '', 'The description of the provider has to be there first.'),
    )
    return [spoken, faulty(Kind.IDP_CHECK_KIND_DISCOVERY, url, found.problem), ...rest]
  }
  const { server, answer } = found
  return [
    spoken,
    passed(Kind.IDP_CHECK_KIND_DISCOVERY, url),
    checkClock(url, answer!, clockAhead),
    checkEndpoints(url, server, configuration),
    ...(await Promise.all([
      askForKeys(upstream, server),
      askForClient(upstream, server),
      askToComeBack(upstream, server),
    ])),
    checkClaims(url, server, scopesOf(configuration), upstream.mapping),
  ]
}

const afterDiscovery = [
  Kind.IDP_CHECK_KIND_CLOCK,
  Kind.IDP_CHECK_KIND_ENDPOINTS,
  Kind.IDP_CHECK_KIND_KEYS,
  Kind.IDP_CHECK_KIND_CLIENT,
  Kind.IDP_CHECK_KIND_REDIRECT_URI,
  Kind.IDP_CHECK_KIND_CLAIMS,
]

function checkEndpoints(url: string, server: AuthorizationServer, configuration: Configurations['oidc']): IDPCheck {
  const kind = Kind.IDP_CHECK_KIND_ENDPOINTS
  const needed = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
  const missing = needed.filter((name) => faultOf(server[name] ?? '') !== undefined)
  if (missing.length > 0) return faulty(kind, url, `It names no address with TLS for ${missing.join(', ')}.`)
  if (!(server.response_types_supported ?? ['code']).includes('code'))
    return faulty(kind, url, 'It gives no codes: its response_types_supported lacks code.')
  const algorithms = server.id_token_signing_alg_values_supported ?? ['RS256']
  if (!algorithms.some((each) => signatureAlgorithms.includes(each)))
    return faulty(
      kind,
      url,
      `It signs ID tokens by ${plain(algorithms.join(', '))} alone, and Roster takes public keys.`,
    )
  const fault = faultOfCallback(configuration, server)
  if (fault !== undefined) return faulty(kind, url, `The callback ${fault}.`)
  if (!server.code_challenge_methods_supported?.includes('S256'))
    return doubtful(kind, url, 'It does not say that it takes PKCE (S256). Roster sends it all the same.')
  return passed(kind, url)
}

async function askForKeys({ fetch }: Upstream<'oidc'>, { jwks_uri: url }: AuthorizationServer): Promise<IDPCheck> {
  if (faultOf(url ?? '') !== undefined) return unknownAddress(Kind.IDP_CHECK_KIND_KEYS)
  return (await checkKeys(fetch, url!)).check
}

async function askForClient(upstream: Upstream<'oidc'>, server: AuthorizationServer): Promise<IDPCheck> {
  if (faultOf(server.token_endpoint ?? '') !== undefined) return unknownAddress(Kind.IDP_CHECK_KIND_CLIENT)
  return checkClient(upstream, server, upstream.configuration.clientId)
}

async function askToComeBack(upstream: Upstream<'oidc'>, server: AuthorizationServer): Promise<IDPCheck> {
  const url = server.authorization_endpoint
  if (faultOf(url ?? '') !== undefined) return unknownAddress(Kind.IDP_CHECK_KIND_REDIRECT_URI)
  const { clientId } = upstream.configuration
  return checkRedirectUri(upstream, url!, {
    client_id: clientId,
    scope: scopesOf(upstream.configuration).join(' '),
    ...challenge,
  })
}

// Of a verifier that nobody has: the request ends at the provider.
const challenge = {
  nonce: 'roster',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

function unknownAddress(kind: Kind): IDPCheck {
  return notChecked(kind, '', 'The provider names no address for it.')
}

// What a new account needs. Of a claim inside another one, the description lists the outer one.
function checkClaims(
  url: string,
  server: AuthorizationServer,
  scopes: string[],
  mapping: Upstream['mapping'],
): IDPCheck {
  const kind = Kind.IDP_CHECK_KIND_CLAIMS
  const [known, claims] = [server.scopes_supported, server.claims_supported]
  const unknown = scopes.filter((scope) => known && !known.includes(scope))
  if (unknown.length > 0) return doubtful(kind, url, `It does not list these scopes: ${plain(unknown.join(' '))}.`)
  if (!scopes.includes('email'))
    return doubtful(kind, url, 'Without the scope email, it gives no address: a new person is asked for it.')
  const { email, emailVerified, givenName, familyName } = mappingOf(mapping)
  const needed = [email, emailVerified, givenName, familyName].filter((claim) => claim !== '')
  const missing = needed.filter((claim) => claims && !claims.includes(outer(claim)))
  if (missing.length === 0) return passed(kind, url)
  return doubtful(
    kind,
    url,
    `It does not list the claims ${plain(missing.join(' and '))}: a new person may be asked for them.`,
  )
}

function outer(claim: string): string {
  return claim.startsWith('/') ? claim.split('/')[1]!.replaceAll('~1', '/').replaceAll('~0', '~') : claim
}
