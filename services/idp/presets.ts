import { createPrivateKey } from 'node:crypto'
import type { AppleKey } from '#gen/roster/idp/v1/idp_config'
import { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import type { TenantList } from '#gen/roster/idp/v1/identity_provider_service'
import type { Violation } from '#lib/errors'
import type { Protocol } from './vocabulary.ts'

/** What a preset differs in from its protocol. */
interface Preset {
  protocol: Protocol
  /** What a sign-in asks for where the record says nothing. */
  scopes?: string[]
  /** No address counts as verified: tenants write what they like. */
  vouchesForNoAddress?: true
  /** The issuer stands for those of tenants, with `{tenantid}` in the place of each one's id. */
  hasTenants?: true
  /** The client secret is a private key that short-lived secrets are signed with. */
  signsSecrets?: true
  /** The answer comes by POST, with the name of the person beside the code. */
  postsAnswer?: true
  /** `"true"` in place of true. */
  saysYesByText?: true
  /** The attributes of the user that have other names than the claims of OpenID Connect. */
  attributes?: Record<string, string>
  /** Below the address of users: the addresses of the person, of which the primary one counts. */
  emailsBelow?: string
  /** Without it they are not shown. */
  emailScope?: string
  /** The one attribute that nobody else has tomorrow. */
  idAttribute?: string
}

/** Presets are data: whatever is no difference is the work of the protocol. */
export const presets: Partial<Record<IDPPreset, Preset>> = {
  [IDPPreset.IDP_PRESET_GOOGLE]: { protocol: 'oidc' },
  [IDPPreset.IDP_PRESET_GITLAB]: { protocol: 'oidc' },
  [IDPPreset.IDP_PRESET_MICROSOFT]: { protocol: 'oidc', hasTenants: true, vouchesForNoAddress: true },
  [IDPPreset.IDP_PRESET_APPLE]: {
    protocol: 'oidc',
    scopes: ['openid', 'name', 'email'],
    signsSecrets: true,
    postsAnswer: true,
    saysYesByText: true,
  },
  [IDPPreset.IDP_PRESET_GITHUB]: {
    protocol: 'oauth',
    scopes: ['read:user', 'user:email'],
    attributes: { preferred_username: 'login' },
    emailsBelow: '/emails',
    emailScope: 'user:email',
    idAttribute: 'id',
  },
}

/** What the preset of a record differs in. */
export function presetOf({ preset }: { preset?: IDPPreset | undefined }): Partial<Preset> {
  return presets[preset ?? IDPPreset.IDP_PRESET_UNSPECIFIED] ?? {}
}

export interface PresetRequest {
  preset?: IDPPreset | undefined
  tenants?: TenantList | undefined
  appleKey?: AppleKey | undefined
  clientSecret?: string | undefined
}

/** Refuses what does not belong to the preset of a provider of OpenID Connect. */
export function checkOidcPreset({ preset, tenants, appleKey, clientSecret }: PresetRequest): Violation[] {
  const { protocol = 'oidc', hasTenants, signsSecrets } = presetOf({ preset })
  const fault = (field: string, description: string | false | undefined): Violation[] =>
    description ? [{ field, description }] : []
  return [
    ...fault('preset', protocol !== 'oidc' && 'is of another protocol'),
    ...fault('tenants', tenants && !hasTenants && 'has to come with IDP_PRESET_MICROSOFT'),
    ...fault('appleKey', appleKey && !signsSecrets && 'has to come with IDP_PRESET_APPLE'),
    ...fault('appleKey', !appleKey && signsSecrets && 'must be set with IDP_PRESET_APPLE'),
    ...fault('clientSecret', signsSecrets && isOther(clientSecret) && 'must be an EC key of P-256 in PKCS #8 (PEM)'),
  ]
}

/** Refuses what does not belong to the preset of a provider of OAuth 2.0. */
export function checkOauthPreset({
  preset,
  idAttribute,
}: {
  preset?: IDPPreset | undefined
  idAttribute: string
}): Violation[] {
  const { protocol = 'oauth', idAttribute: only = idAttribute } = presetOf({ preset })
  if (protocol !== 'oauth') return [{ field: 'preset', description: 'is of another protocol' }]
  return idAttribute === only ? [] : [{ field: 'idAttribute', description: `must be ${only} with this preset` }]
}

/** Whether a text is something else than a key that ES256 signs with. */
function isOther(pem: string | undefined): boolean {
  if (pem === undefined) return false
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    return asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1'
  } catch {
    return true
  }
}
