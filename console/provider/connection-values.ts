import type {
  IdpIDP,
  IdpUpdateIDPJWTConfigRequest,
  IdpUpdateIDPOAuthConfigRequest,
  IdpUpdateIDPOIDCConfigRequest,
} from '#gen/console/api'
import { linesOf } from '../form/merge.ts'
import { idToCome, kindOf } from '../providers/kinds.ts'

/** How a provider is reached, as a form has it: each setting under its path in the request that changes it. */
export type Connection = Record<string, string>

export function connectionOf(provider: IdpIDP): Connection {
  const { oidc, oauth, jwt } = provider
  if (jwt) {
    const { jwtEndpoint = '', issuer = '', keysEndpoint = '', headerName = '', audience = '' } = jwt
    return { jwtEndpoint, issuer, keysEndpoint, headerName, audience }
  }
  const { clientId = '', scopes = [] } = oidc ?? oauth ?? {}
  const client = { clientId: clientId === idToCome ? '' : clientId, scopes: scopes.join('\n') }
  if (oauth) {
    const { authorizationEndpoint = '', tokenEndpoint = '', userEndpoint = '', idAttribute = '' } = oauth
    return { authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute, ...client }
  }
  const { issuer = '', tenants, appleKey } = oidc ?? {}
  return {
    issuer,
    ...client,
    ...(mayShareCallback(provider) && { callback: callbackOf(provider) }),
    ...(kindOf(provider) === 'microsoft' && { 'tenants.ids': (tenants?.ids ?? []).join('\n') }),
    ...(appleKey && { 'appleKey.teamId': appleKey.teamId ?? '', 'appleKey.keyId': appleKey.keyId ?? '' }),
  }
}

/** One that several providers may have. Apple posts its answer to one of its own. */
export function mayShareCallback(provider: IdpIDP): boolean {
  return provider.oidc !== undefined && kindOf(provider) !== 'apple'
}

function callbackOf({ oidc }: IdpIDP): string {
  const { callback = 'IDP_CALLBACK_OWN' } = oidc ?? {}
  return callback === 'IDP_CALLBACK_UNSPECIFIED' ? 'IDP_CALLBACK_OWN' : callback
}

type Request = IdpUpdateIDPOIDCConfigRequest & IdpUpdateIDPOAuthConfigRequest & IdpUpdateIDPJWTConfigRequest

/** The request that changes these settings alone. A key of Apple has two parts, which go together. */
export function requestOf(changed: Partial<Connection>, all: Connection): Request {
  const { scopes, 'tenants.ids': tenants, 'appleKey.teamId': team, 'appleKey.keyId': key, ...texts } = changed
  return {
    ...texts,
    ...(scopes !== undefined && (linesOf(scopes).length > 0 ? { scopes: linesOf(scopes) } : { clearScopes: true })),
    ...(tenants !== undefined && { tenants: { ids: linesOf(tenants) } }),
    ...((team !== undefined || key !== undefined) && {
      appleKey: { teamId: team ?? all['appleKey.teamId']!, keyId: key ?? all['appleKey.keyId']! },
    }),
  }
}
