import type { GrantsAddAPIApplicationRequest, GrantsAddOIDCApplicationRequest } from '#gen/console/api'

/** What the lines for an application are made of. */
export interface Facts {
  issuer: string
  projectId: string
  clientId: string
  /** Empty where there is none, or where it was shown before. */
  clientSecret: string
  /** The origin of the application on this machine; the scheme of one on a device. */
  address: string
  /** A secret of the application's own, where it needs one. */
  random: string
}

export interface File {
  name: string
  text: string
}

/** A way in which applications are written: how one is registered, and the lines that one pastes. */
export interface Framework {
  name: string
  /** What it registers: a client of OpenID Connect, an API that asks about tokens, or nothing. */
  registers: 'web' | 'page' | 'device' | 'api' | 'nothing'
  /** Where it is in development. Empty: it has no address of its own. */
  address: string
  /** Where people come back to after signing in, and after signing out: paths of each address. */
  callback: string
  back: string
  env: (facts: Facts) => Record<string, string>
  commands: string[]
  /** Its code, as the examples have it. */
  files: (facts: Facts) => Promise<File[]>
}

/** The request that registers an application of a framework, as its page of the documentation shows it. */
export function requestOf(
  framework: Framework,
  { addresses, back, roles }: { addresses: string[]; back: string; roles: boolean },
): Omit<GrantsAddOIDCApplicationRequest, 'name' | 'projectId'> {
  const { registers, callback } = framework
  const redirectUris = addresses.map((address) => redirectUriOf(framework, address))
  const isWeb = registers === 'web'
  const isOnDevice = registers === 'device'
  return {
    appType: isWeb ? 'OIDC_APP_TYPE_WEB' : isOnDevice ? 'OIDC_APP_TYPE_NATIVE' : 'OIDC_APP_TYPE_USER_AGENT',
    authMethodType: isWeb ? 'OIDC_AUTH_METHOD_TYPE_BASIC' : 'OIDC_AUTH_METHOD_TYPE_NONE',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    redirectUris: callback === '' && addresses.length === 0 ? [] : redirectUris,
    ...(back !== '' && { postLogoutRedirectUris: addresses.map((address) => originOf(address) + back) }),
    idTokenUserinfoAssertion: true,
    ...(roles && { idTokenRoleAssertion: true }),
    // An API that the page calls reads the roles in the token.
    ...(registers === 'page' && { accessTokenType: 'OIDC_TOKEN_TYPE_JWT' as const }),
    ...(registers === 'page' && roles && { accessTokenRoleAssertion: true }),
    ...(!isOnDevice && addresses.some((address) => address.startsWith('http:')) && { devMode: true }),
  }
}

export const apiRequest: Omit<GrantsAddAPIApplicationRequest, 'name' | 'projectId'> = {
  authMethodType: 'API_AUTH_METHOD_TYPE_BASIC',
}

export function redirectUriOf({ callback, registers }: Framework, address: string): string {
  // A scheme of one's own has no origin: it is registered as it was typed.
  return registers === 'device' && !/^https?:/.test(address) ? address : originOf(address) + callback
}

/** The address without a path. What is none stays as it is: the API says what is wrong with it. */
export function originOf(address: string): string {
  return /^(https?:\/\/[^/?#\s]+)\/*$/.exec(address)?.[1] ?? address
}

export function portOf(address: string): string {
  return /:(\d+)\/*$/.exec(address)?.[1] ?? ''
}

/** The text of an `.env`. What a shell or a reader of such files would take apart is in quotes. */
export function envOf(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(
      ([name, value]) => `${name}=${/^[\w.:/@+=,…-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`}\n`,
    )
    .join('')
}
