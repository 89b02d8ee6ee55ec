import type {
  GrantsAPIApplicationPatch,
  GrantsApplication,
  GrantsOIDCApplicationPatch,
  GrantsPatchApplicationRequest,
} from '#gen/console/api'
import { linesOf } from '../form/merge.ts'

const loginPages = 'oidcConfig.loginVersion.loginV2.baseUri'

/** The settings of an application as a form has them, each under its path in PatchApplication. */
export type Settings = Record<string, string>

const text = (value: boolean | undefined) => (value ? 'true' : '')
const seconds = (value = '') => (value === '0s' ? '' : value.replace(/s$/, ''))

export function valuesOf({ name = '', oidcConfig, apiConfig }: GrantsApplication): Settings {
  if (apiConfig) return { name, 'apiConfig.authMethodType': apiConfig.authMethodType ?? 'API_AUTH_METHOD_TYPE_BASIC' }
  const oidc = oidcConfig ?? {}
  const algorithm = oidc.idTokenAlgorithm ?? 'ID_TOKEN_ALGORITHM_UNSPECIFIED'
  return {
    name,
    'oidcConfig.redirectUris': (oidc.redirectUris ?? []).join('\n'),
    'oidcConfig.postLogoutRedirectUris': (oidc.postLogoutRedirectUris ?? []).join('\n'),
    'oidcConfig.devMode': text(oidc.devMode),
    'oidcConfig.appType': oidc.appType ?? 'OIDC_APP_TYPE_WEB',
    'oidcConfig.authMethodType': oidc.authMethodType ?? 'OIDC_AUTH_METHOD_TYPE_BASIC',
    // Any application has the code. So the one that is left is a question of yes or no.
    'oidcConfig.grantTypes': text(oidc.grantTypes?.includes('OIDC_GRANT_TYPE_REFRESH_TOKEN')),
    'oidcConfig.accessTokenType': oidc.accessTokenType ?? 'OIDC_TOKEN_TYPE_BEARER',
    'oidcConfig.accessTokenLifetime': seconds(oidc.accessTokenLifetime),
    'oidcConfig.idTokenAlgorithm':
      algorithm === 'ID_TOKEN_ALGORITHM_RS256' ? 'ID_TOKEN_ALGORITHM_UNSPECIFIED' : algorithm,
    'oidcConfig.accessTokenRoleAssertion': text(oidc.accessTokenRoleAssertion),
    'oidcConfig.idTokenRoleAssertion': text(oidc.idTokenRoleAssertion),
    'oidcConfig.idTokenUserinfoAssertion': text(oidc.idTokenUserinfoAssertion),
    'oidcConfig.clockSkew': seconds(oidc.clockSkew),
    'oidcConfig.backChannelLogoutUri': oidc.backChannelLogoutUri ?? '',
    [loginPages]: oidc.loginVersion?.loginV2?.baseUri ?? '',
    'oidcConfig.allowMissingPkce': text(oidc.allowMissingPkce),
    'oidcConfig.firstParty': text(oidc.firstParty),
    'oidcConfig.rosterApi': text(oidc.rosterApi),
    'oidcConfig.organizationId': oidc.organizationId ?? '',
  }
}

type Patch = GrantsOIDCApplicationPatch & GrantsAPIApplicationPatch

const read: Record<string, (value: string) => Patch> = {
  redirectUris: (value) => ({ redirectUris: linesOf(value) }),
  postLogoutRedirectUris: (value) => ({ postLogoutRedirectUris: linesOf(value) }),
  grantTypes: (value) => ({
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', ...(value ? (['OIDC_GRANT_TYPE_REFRESH_TOKEN'] as const) : [])],
  }),
  clockSkew: (value) => ({ clockSkew: `${value || 0}s` }),
  accessTokenLifetime: (value) => ({ accessTokenLifetime: `${value || 0}s` }),
  'loginVersion.loginV2.baseUri': (value) => ({
    loginVersion: value ? { loginV2: { baseUri: value } } : { loginV1: {} },
  }),
}
const booleans = new Set([
  'devMode',
  'accessTokenRoleAssertion',
  'idTokenRoleAssertion',
  'idTokenUserinfoAssertion',
  'allowMissingPkce',
  'firstParty',
  'rosterApi',
])

/** The request that changes these settings, and no others: its mask names them. */
export function requestOf(changed: Partial<Settings>): GrantsPatchApplicationRequest {
  const request: GrantsPatchApplicationRequest = {}
  const mask: string[] = []
  for (const [path, value = ''] of Object.entries(changed)) {
    const [, config, field = ''] = /^(oidcConfig|apiConfig)\.(.*)$/.exec(path) ?? []
    mask.push(path === loginPages ? 'oidcConfig.loginVersion' : path)
    if (config === undefined) request.name = value
    else {
      const name = config as 'oidcConfig' | 'apiConfig'
      const part = read[field]?.(value) ?? { [field]: booleans.has(field) ? value === 'true' : value }
      request[name] = { ...request[name], ...part } as never
    }
  }
  return { ...request, updateMask: mask.join(',') }
}
