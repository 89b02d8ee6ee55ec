import { type IDP, IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import { IDPType, type LDAPConfig, type SAMLConfig } from '#gen/roster/idp/v1/idp_config'
import { details, type Existing } from '#lib/eventstore/aggregate'
import type { Configurations, Idp, Protocol } from './vocabulary.ts'

/** Shows a provider to callers, without its secret. */
export function showIdp(aggregate: Existing<Idp>): IDP {
  const { name, stylingType, autoRegister, refusesLinking, asksFirst, inactive, ...rest } = aggregate.state
  const { oidc, jwt, oauth, saml, ldap, claims, roleRows = [], sessions } = rest
  return {
    id: aggregate.id,
    idpId: aggregate.id,
    details: details(aggregate),
    state: inactive ? IDPState.IDP_STATE_INACTIVE : IDPState.IDP_STATE_ACTIVE,
    name,
    type: types[protocolOf(aggregate.state)],
    stylingType,
    autoRegister,
    refusesLinking,
    asksFirst,
    oidc,
    jwt,
    oauth,
    saml: saml && showSaml(saml),
    ldap: ldap && showLdap(ldap),
    claims,
    roleRows,
    sessions,
  }
}

/** The number of each protocol in answers. */
export const types = {
  oidc: IDPType.IDP_TYPE_OIDC,
  jwt: IDPType.IDP_TYPE_JWT,
  ldap: IDPType.IDP_TYPE_LDAP,
  oauth: IDPType.IDP_TYPE_OAUTH,
  saml: IDPType.IDP_TYPE_SAML,
} as const satisfies Record<Protocol, IDPType>

export const protocols = Object.keys(types) as Protocol[]

/** The protocol of a provider. */
export function protocolOf(idp: Idp): Protocol {
  return protocols.find((protocol) => idp[protocol])!
}

export function showSaml({ metadataXml, metadataUrl, ...settings }: Configurations['saml']): SAMLConfig {
  if (metadataXml === '') return { metadata: { $case: 'metadataUrl', value: metadataUrl }, ...settings }
  return { metadata: { $case: 'metadataXml', value: Buffer.from(metadataXml) }, ...settings }
}

export function showLdap({ timeoutMilliseconds, ...settings }: Configurations['ldap']): LDAPConfig {
  const [seconds, rest] = [Math.trunc(timeoutMilliseconds / 1000), timeoutMilliseconds % 1000]
  return { ...settings, timeout: { seconds, nanos: rest * 1e6 } }
}
