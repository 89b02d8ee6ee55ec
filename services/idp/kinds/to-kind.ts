import { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import { type IdentityProvider, IDPKind } from '#gen/roster/idp/v1/provider_service'
import { showLdap, showSaml } from '../show.ts'
import type { Configurations, Idp } from '../vocabulary.ts'
import { gitlab, isGithub, tenantOfIssuer } from './addresses.ts'
import { unsaid } from './to-record.ts'

type Shown = NonNullable<IdentityProvider['config']>

/** The kind of a provider, with its settings. */
export function toKind({ oidc, oauth, jwt, saml, ldap }: Idp): Shown {
  if (oidc) return kindOfOidc(oidc)
  if (oauth) return kindOfOauth(oauth)
  if (jwt) return { $case: 'jwt', value: jwt }
  if (saml) return { $case: 'saml', value: showSaml(saml) }
  return { $case: 'ldap', value: showLdap(ldap!) }
}

/** The number of each kind. */
export const kindNumbers: Record<Shown['$case'], IDPKind> = {
  oidc: IDPKind.IDP_KIND_OIDC,
  jwt: IDPKind.IDP_KIND_JWT,
  ldap: IDPKind.IDP_KIND_LDAP,
  oauth: IDPKind.IDP_KIND_OAUTH,
  azureAd: IDPKind.IDP_KIND_AZURE_AD,
  github: IDPKind.IDP_KIND_GITHUB,
  githubEs: IDPKind.IDP_KIND_GITHUB_ES,
  gitlab: IDPKind.IDP_KIND_GITLAB,
  gitlabSelfHosted: IDPKind.IDP_KIND_GITLAB_SELF_HOSTED,
  google: IDPKind.IDP_KIND_GOOGLE,
  apple: IDPKind.IDP_KIND_APPLE,
  saml: IDPKind.IDP_KIND_SAML,
}

/** Which kind a provider is. */
export function kindOf(idp: Idp): IDPKind {
  return kindNumbers[toKind(idp).$case]
}

function kindOfOidc(oidc: Configurations['oidc']): Shown {
  const { issuer, clientId, scopes, preset, appleKey } = oidc
  const hosted = { clientId, scopes }
  switch (preset) {
    case IDPPreset.IDP_PRESET_GOOGLE:
      return { $case: 'google', value: hosted }
    case IDPPreset.IDP_PRESET_GITLAB:
      if (issuer === gitlab) return { $case: 'gitlab', value: hosted }
      return { $case: 'gitlabSelfHosted', value: { issuer, ...hosted } }
    case IDPPreset.IDP_PRESET_MICROSOFT:
      return { $case: 'azureAd', value: { ...hosted, tenant: tenantOfIssuer(issuer), emailVerified: false } }
    case IDPPreset.IDP_PRESET_APPLE: {
      const { teamId = '', keyId = '' } = appleKey ?? {}
      return { $case: 'apple', value: { ...hosted, teamId, keyId } }
    }
    default: {
      const { idTokenAlone: isIdTokenMapping = unsaid.idTokenAlone, usePkce = unsaid.usePkce } = oidc
      return { $case: 'oidc', value: { issuer, ...hosted, isIdTokenMapping, usePkce } }
    }
  }
}

function kindOfOauth(oauth: Configurations['oauth']): Shown {
  const { clientId, scopes, authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute } = oauth
  const { usePkce = unsaid.usePkce } = oauth
  const endpoints = { authorizationEndpoint, tokenEndpoint, userEndpoint }
  if (oauth.preset !== IDPPreset.IDP_PRESET_GITHUB)
    return { $case: 'oauth', value: { clientId, scopes, ...endpoints, idAttribute, usePkce } }
  if (isGithub(oauth)) return { $case: 'github', value: { clientId, scopes } }
  return { $case: 'githubEs', value: { clientId, scopes, ...endpoints } }
}
