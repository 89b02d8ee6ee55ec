import type { IdpIDP, IdpIDPPreset, IdpIDPType } from '#gen/console/api'

/** What a provider is: its preset, else its protocol. */
export type Kind = 'google' | 'microsoft' | 'github' | 'gitlab' | 'apple' | 'oidc' | 'oauth' | 'jwt' | 'saml' | 'ldap'

export const kindNames: Record<Kind, string> = {
  google: 'Google',
  microsoft: 'Microsoft',
  github: 'GitHub',
  gitlab: 'GitLab',
  apple: 'Apple',
  oidc: 'OpenID Connect',
  oauth: 'OAuth 2.0',
  jwt: 'JSON Web Token',
  saml: 'SAML 2.0',
  ldap: 'LDAP',
}

const presets: Partial<Record<IdpIDPPreset, Kind>> = {
  IDP_PRESET_GOOGLE: 'google',
  IDP_PRESET_MICROSOFT: 'microsoft',
  IDP_PRESET_GITHUB: 'github',
  IDP_PRESET_GITLAB: 'gitlab',
  IDP_PRESET_APPLE: 'apple',
}

const types: Partial<Record<IdpIDPType, Kind>> = {
  IDP_TYPE_OIDC: 'oidc',
  IDP_TYPE_OAUTH: 'oauth',
  IDP_TYPE_JWT: 'jwt',
  IDP_TYPE_SAML: 'saml',
  IDP_TYPE_LDAP: 'ldap',
}

export function kindOf({ oidc, oauth, type = 'IDP_TYPE_OIDC' }: IdpIDP): Kind {
  const preset = oidc?.preset ?? oauth?.preset
  return (preset && presets[preset]) ?? types[type] ?? 'oidc'
}

const withoutSignIn = new Set<Kind>(['saml', 'ldap'])

/** Whether Roster signs people in by such a provider. */
export function signsIn(kind: Kind): boolean {
  return !withoutSignIn.has(kind)
}

/** The client id of a record that waits for the one which the provider gives. */
export const idToCome = 'not-set-yet'

export function clientIdOf({ oidc, oauth }: IdpIDP): string | undefined {
  return oidc?.clientId ?? oauth?.clientId
}
