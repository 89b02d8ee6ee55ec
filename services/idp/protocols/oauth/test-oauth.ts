import { type IDPCheck, IDPCheckKind as Kind, IDPCheckResult as Result } from '#gen/roster/idp/v1/idp_check'
import { presetOf } from '../../presets.ts'
import { checkClient } from '../check-client.ts'
import { checkRedirectUri } from '../check-redirect-uri.ts'
import { ask, doubtful, faulty, passed, spoken } from '../checks.ts'
import type { Upstream } from '../protocol.ts'
import { scopesOf } from './scopes.ts'

export async function testOauth(upstream: Upstream<'oauth'>): Promise<IDPCheck[]> {
  const { clientId, authorizationEndpoint } = upstream.configuration
  const scopes = scopesOf(upstream.configuration)
  const request = { client_id: clientId, ...(scopes.length > 0 && { scope: scopes.join(' ') }) }
  const checks = await Promise.all([
    askForUser(upstream),
    checkSecret(upstream),
    checkRedirectUri(upstream, authorizationEndpoint, request),
  ])
  return [spoken, ...checks, ...checkScopes(upstream.configuration)]
}

// What comes of the address shows only with a person's token, so its scope is looked at alone.
function checkScopes(configuration: Upstream<'oauth'>['configuration']): IDPCheck[] {
  const { emailScope } = presetOf(configuration)
  if (emailScope === undefined) return []
  const [kind, url] = [Kind.IDP_CHECK_KIND_CLAIMS, configuration.userEndpoint]
  if (scopesOf(configuration).includes(emailScope)) return [passed(kind, url)]
  return [doubtful(kind, url, `Without the scope ${emailScope}, it gives no address: a new person is asked for it.`)]
}

// As a sign-in sends it: in the header, and where that is refused, in the form.
async function checkSecret(upstream: Upstream<'oauth'>): Promise<IDPCheck> {
  const { clientId, tokenEndpoint } = upstream.configuration
  const server = { issuer: tokenEndpoint, token_endpoint: tokenEndpoint }
  const check = await checkClient(upstream, server, clientId)
  if (check.result === Result.IDP_CHECK_RESULT_PASSED || 'fault' in upstream.secret) return check
  const inForm = { ...server, token_endpoint_auth_methods_supported: ['client_secret_post'] }
  const second = await checkClient(upstream, inForm, clientId)
  return second.result === Result.IDP_CHECK_RESULT_PASSED ? second : check
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
