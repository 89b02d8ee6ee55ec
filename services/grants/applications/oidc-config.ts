import type { Duration } from '#gen/google/protobuf/duration'
import {
  type AddOIDCApplicationRequest,
  IDTokenAlgorithm,
  OIDCAppType,
  type OIDCApplicationPatch,
  OIDCAuthMethodType,
  OIDCGrantType,
  UpdateOIDCConfigRequest,
} from '#gen/roster/grants/v1/application_service'
import type { Violation } from '#lib/errors'
import type { Destinations } from '#lib/outbound/destinations'
import type { OIDC } from '../vocabulary/application.ts'
import { oidcFields } from './oidc-fields.ts'
import { faultOfUri } from './redirect-uris.ts'

/** The settings that a request wants for a new application. */
export function newOidc(request: AddOIDCApplicationRequest): OIDC {
  const { allowMissingPkce, firstParty, rosterApi, idTokenAlgorithm, accessTokenLifetime, organizationId } = request
  return {
    ...settingsOf(request),
    allowMissingPkce,
    firstParty,
    rosterApi,
    idTokenAlgorithm,
    accessTokenLifetime: inSeconds(accessTokenLifetime),
    ...(organizationId !== '' && { organizationId }),
  }
}

/** The settings after a request. */
export function changedOidc(request: UpdateOIDCConfigRequest, former: OIDC): OIDC {
  const { allowMissingPkce, firstParty, rosterApi, idTokenAlgorithm, accessTokenLifetime } = request
  const { organizationId = former.organizationId ?? '' } = request
  return {
    ...settingsOf(request),
    allowMissingPkce: allowMissingPkce ?? former.allowMissingPkce,
    firstParty: firstParty ?? former.firstParty,
    rosterApi: rosterApi ?? former.rosterApi,
    idTokenAlgorithm: idTokenAlgorithm ?? former.idTokenAlgorithm,
    accessTokenLifetime: accessTokenLifetime ? inSeconds(accessTokenLifetime) : former.accessTokenLifetime,
    ...(organizationId !== '' && { organizationId }),
  }
}

/** The request for the settings of before with these fields changed: to what is sent, or to nothing. */
export function patchedOidc(
  former: OIDC,
  fields: Set<string>,
  sent: OIDCApplicationPatch | undefined,
): UpdateOIDCConfigRequest {
  const nothing: UpdateOIDCConfigRequest = {
    ...UpdateOIDCConfigRequest.decode(new Uint8Array()),
    accessTokenLifetime: { seconds: 0, nanos: 0 },
    allowMissingPkce: false,
    firstParty: false,
    rosterApi: false,
    idTokenAlgorithm: IDTokenAlgorithm.ID_TOKEN_ALGORITHM_UNSPECIFIED,
    organizationId: '',
  }
  const given: object = Object.fromEntries(Object.entries(sent ?? {}).filter(([, value]) => value !== undefined))
  const changed = Object.entries({ ...nothing, ...given }).filter(([field]) => fields.has(field))
  return { ...nothing, ...oidcFields(former), ...Object.fromEntries(changed) }
}

type Own =
  | 'allowMissingPkce'
  | 'firstParty'
  | 'rosterApi'
  | 'idTokenAlgorithm'
  | 'accessTokenLifetime'
  | 'organizationId'

function settingsOf(request: AddOIDCApplicationRequest | UpdateOIDCConfigRequest): Omit<OIDC, Own> {
  const grantTypes = [...new Set(request.grantTypes)]
  const { version } = request.loginVersion ?? {}
  return {
    redirectUris: [...new Set(request.redirectUris)],
    // RFC 7591, 2.
    grantTypes: grantTypes.length > 0 ? grantTypes : [OIDCGrantType.OIDC_GRANT_TYPE_AUTHORIZATION_CODE],
    appType: request.appType,
    authMethodType: request.authMethodType,
    postLogoutRedirectUris: [...new Set(request.postLogoutRedirectUris)],
    devMode: request.devMode,
    accessTokenType: request.accessTokenType,
    accessTokenRoleAssertion: request.accessTokenRoleAssertion,
    idTokenRoleAssertion: request.idTokenRoleAssertion,
    idTokenUserinfoAssertion: request.idTokenUserinfoAssertion,
    clockSkew: inSeconds(request.clockSkew),
    additionalOrigins: [...new Set(request.additionalOrigins)],
    skipNativeAppSuccessPage: request.skipNativeAppSuccessPage,
    backChannelLogoutUri: request.backChannelLogoutUri,
    ...(version?.$case === 'loginV2' && { loginBaseUri: version.value.baseUri ?? '' }),
  }
}

// A part of a second is left in, and refused with what is out of range.
function inSeconds(duration: Duration | undefined): number {
  return duration ? duration.seconds + duration.nanos / 1e9 : 0
}

const longestSkew = 5
const [shortestLife, longestLife] = [60, 86_400]

/** What is wrong with settings. `isKept`: the application came from another system, with its client id. */
export function faultsOf(
  oidc: OIDC,
  request: Pick<OIDC, UriList>,
  isKept: boolean,
  destinations: Destinations,
): Violation[] {
  const { appType, authMethodType, devMode, grantTypes, clockSkew, accessTokenLifetime: life } = oidc
  const faults: Violation[] = [
    ...faultsOfUris('redirectUris', request, { appType, devMode, isKept, mayBePattern: true }),
    ...faultsOfUris('postLogoutRedirectUris', request, { appType, devMode, isKept, mayBePattern: true }),
  ]
  const refuse = (field: string, isRight: boolean, description: string) => {
    if (!isRight) faults.push({ field, description })
  }
  const { OIDC_APP_TYPE_WEB, OIDC_APP_TYPE_USER_AGENT } = OIDCAppType
  const isPublic = authMethodType === OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  refuse(
    'grantTypes',
    grantTypes.includes(OIDCGrantType.OIDC_GRANT_TYPE_AUTHORIZATION_CODE),
    'must have OIDC_GRANT_TYPE_AUTHORIZATION_CODE',
  )
  refuse(
    'authMethodType',
    appType !== OIDC_APP_TYPE_USER_AGENT || isPublic,
    'must be OIDC_AUTH_METHOD_TYPE_NONE in the browser, which can keep no secret',
  )
  refuse(
    'allowMissingPkce',
    !oidc.allowMissingPkce || (appType === OIDC_APP_TYPE_WEB && !isPublic),
    'is only for a web application that proves who it is',
  )
  refuse(
    'clockSkew',
    Number.isInteger(clockSkew) && clockSkew >= 0 && clockSkew <= longestSkew,
    `must be 0 to ${longestSkew} whole seconds`,
  )
  refuse(
    'accessTokenLifetime',
    life === 0 || (Number.isInteger(life) && life >= shortestLife && life <= longestLife),
    `must be ${shortestLife} to ${longestLife} whole seconds`,
  )
  const logout = oidc.backChannelLogoutUri
  // Without the exceptions that dev_mode makes for what a browser opens.
  const isHttps = logout === '' || logout.startsWith('https:')
  const fault =
    logout &&
    isHttps &&
    (faultOfUri(logout, { appType: OIDC_APP_TYPE_WEB, devMode: false, isKept }) ?? destinations.faultOf(logout))
  refuse('backChannelLogoutUri', isHttps && !fault, fault || 'must be https')
  const ofLogin = faultOfLogin(oidc)
  refuse('loginVersion.loginV2.baseUri', ofLogin === undefined, ofLogin!)
  return faults
}

function faultOfLogin({ loginBaseUri, devMode }: OIDC): string | undefined {
  if (loginBaseUri === undefined) return undefined
  if (loginBaseUri.includes('?')) return 'must not have a query'
  const fault = faultOfUri(loginBaseUri, { appType: OIDCAppType.OIDC_APP_TYPE_WEB, devMode, isKept: false })
  return fault ?? (isNormal(loginBaseUri) ? undefined : 'must be as browsers write it, without an empty segment')
}

// A path is added to it, so another spelling would lead elsewhere than it says.
function isNormal(uri: string): boolean {
  const { href, pathname } = new URL(uri)
  return (href === uri || href === `${uri}/`) && !/\/\/|%2e|%2f|%5c/i.test(pathname)
}

type UriList = 'redirectUris' | 'postLogoutRedirectUris'

// As they were sent, so that the index is right.
function faultsOfUris(field: UriList, request: Pick<OIDC, UriList>, rules: Parameters<typeof faultOfUri>[1]) {
  return request[field].flatMap((uri, index): Violation[] => {
    const description = faultOfUri(uri, rules)
    return description === undefined ? [] : [{ field: `${field}[${index}]`, description }]
  })
}
