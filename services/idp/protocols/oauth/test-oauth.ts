import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { checkClient } from '../check-client.ts'
import { checkRedirectUri } from '../check-redirect-uri.ts'
import { ask, doubtful, faulty, notSpokenYet, passed } from '../checks.ts'
import type { ProtocolWork, Upstream } from '../protocol.ts'

/** OAuth 2.0: the record has the endpoints, and the one of users says who it is. */
export const oauth: ProtocolWork<'oauth'> = {
  async test(upstream) {
    const { clientId, authorizationEndpoint, tokenEndpoint, scopes } = upstream.configuration
    // It is not said how it takes secrets. RFC 6749 (2.3.1) has every server take them so.
    const server = { issuer: tokenEndpoint, token_endpoint: tokenEndpoint }
    const request = { client_id: clientId, ...(scopes.length > 0 && { scope: scopes.join(' ') }) }
    const checks = await Promise.all([
      askForUser(upstream),
      checkClient(upstream, server, clientId),
      checkRedirectUri(upstream, authorizationEndpoint, request),
    ])
    return [notSpokenYet, ...checks]
  },
}

async function askForUser({ configuration: { userEndpoint: url }, fetch }: Upstream<'oauth'>): Promise<IDPCheck> {
  const kind = Kind.IDP_CHECK_KIND_ENDPOINTS
  const asked = await ask(fetch, url, { headers: { accept: 'application/json' } })
  if ('problem' in asked) return faulty(kind, url, asked.problem)
  const { status } = asked.answer
  if ([400, 401, 403].includes(status)) return passed(kind, url)
  if (status === 404 || status === 405)
    return faulty(kind, url, `It answers with the status ${status}: the address of users is wrong.`)
  return doubtful(kind, url, `Without a token it answers with the status ${status}, where 401 was expected.`)
}
