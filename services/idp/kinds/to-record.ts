import { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import type { AddIdentityProviderRequest } from '#gen/roster/idp/v1/provider_service'
import type { Configurations } from '../vocabulary.ts'
import { apple, github, gitlab, google, issuerOfTenant } from './addresses.ts'

/** The settings of a kind, as a request has them. */
export type KindSettings = NonNullable<AddIdentityProviderRequest['config']>

/** The protocols of the kinds that can be added. */
type OfKinds = 'oidc' | 'oauth' | 'jwt'
export type Recorded = { [P in OfKinds]: { protocol: P; configuration: Configurations[P] } }[OfKinds]

const oidc = (configuration: Configurations['oidc']): Recorded => ({ protocol: 'oidc', configuration })
const oauth = (configuration: Configurations['oauth']): Recorded => ({ protocol: 'oauth', configuration })

/** The record of a provider of a kind. A preset brings what the kind has no field for. */
export function toRecord({ $case: kind, value }: KindSettings): Recorded {
  switch (kind) {
    case 'oidc': {
      const { issuer, clientId, scopes, isIdTokenMapping, usePkce } = value
      return oidc({ issuer, clientId, scopes, idTokenAlone: isIdTokenMapping, usePkce })
    }
    case 'oauth': {
      const { clientId, authorizationEndpoint, tokenEndpoint, userEndpoint, scopes, idAttribute, usePkce } = value
      return oauth({ clientId, authorizationEndpoint, tokenEndpoint, userEndpoint, scopes, idAttribute, usePkce })
    }
    case 'jwt': {
      const { jwtEndpoint, issuer, keysEndpoint, headerName } = value
      return { protocol: 'jwt', configuration: { jwtEndpoint, issuer, keysEndpoint, headerName } }
    }
    case 'google':
      return oidc({ issuer: google, ...common(value), preset: IDPPreset.IDP_PRESET_GOOGLE })
    case 'gitlab':
      return oidc({ issuer: gitlab, ...common(value), preset: IDPPreset.IDP_PRESET_GITLAB })
    case 'gitlabSelfHosted':
      return oidc({ issuer: value.issuer, ...common(value), preset: IDPPreset.IDP_PRESET_GITLAB })
    case 'azureAd':
      return oidc({
        issuer: issuerOfTenant(value.tenant),
        ...common(value),
        preset: IDPPreset.IDP_PRESET_MICROSOFT,
      })
    case 'apple': {
      const appleKey = { teamId: value.teamId, keyId: value.keyId }
      return oidc({ issuer: apple, ...common(value), preset: IDPPreset.IDP_PRESET_APPLE, appleKey })
    }
    case 'github':
      return oauth({ ...github, ...common(value), idAttribute: 'id', preset: IDPPreset.IDP_PRESET_GITHUB })
    case 'githubEs': {
      const { authorizationEndpoint, tokenEndpoint, userEndpoint } = value
      const endpoints = { authorizationEndpoint, tokenEndpoint, userEndpoint }
      return oauth({ ...endpoints, ...common(value), idAttribute: 'id', preset: IDPPreset.IDP_PRESET_GITHUB })
    }
  }
}

function common({ clientId, scopes }: { clientId: string; scopes: string[] }) {
  return { clientId, scopes }
}

/** What a record means that does not say it. */
export const unsaid = { idTokenAlone: false, usePkce: true }

/** Settings without those that say the same as a record that does not say it. */
export function withoutUnsaid<Settings extends object>(settings: Settings, before: object = {}): Settings {
  const said = Object.entries(settings).filter(
    ([name, value]) => name in before || value !== (unsaid as Record<string, unknown>)[name],
  )
  return Object.fromEntries(said) as Settings
}
