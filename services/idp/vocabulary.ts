import type { IDPStylingType, TenantList } from '#gen/roster/idp/v1/identity_provider_service'
import type { IDPClaims, IDPRoleRow } from '#gen/roster/idp/v1/idp_claims'
import type {
  AppleKey,
  IDPCallback,
  IDPPreset,
  JWTConfig,
  LDAPAttributes,
  OAuthConfig,
  SAMLBinding,
  SAMLNameIDFormat,
} from '#gen/roster/idp/v1/idp_config'
import type { IDPSessions } from '#gen/roster/idp/v1/idp_sessions'
import { RosterError } from '#lib/errors'

/** The settings that every provider has. */
export interface IdpSettings {
  name: string
  stylingType: IDPStylingType
  autoRegister: boolean
  /** Nobody connects an account with it. */
  refusesLinking?: boolean | undefined
  /** Before an unknown user is registered, a page asks. */
  asksFirst?: boolean | undefined
}

/** The settings of each protocol. Secrets are not among them: they are encrypted in a table of their own. */
export interface Configurations {
  oidc: {
    clientId: string
    issuer: string
    scopes: string[]
    preset?: IDPPreset | undefined
    tenants?: TenantList | undefined
    appleKey?: AppleKey | undefined
    /** The address of users is not asked. */
    idTokenAlone?: boolean | undefined
    /** Kept: PKCE is used in any case. */
    usePkce?: boolean | undefined
    /** Where the provider sends browsers back to. */
    callback?: IDPCallback | undefined
  }
  jwt: JWTConfig
  oauth: OAuthConfig
  saml: {
    /** One of the two is empty. */
    metadataXml: string
    metadataUrl: string
    binding: SAMLBinding
    withSignedRequest: boolean
    nameIdFormat: SAMLNameIDFormat
  }
  ldap: {
    servers: string[]
    startTls: boolean
    baseDn: string
    bindDn: string
    userBase: string
    userObjectClasses: string[]
    userFilters: string[]
    timeoutMilliseconds: number
    attributes: LDAPAttributes
  }
}

export type Protocol = keyof Configurations
/** The protocols in which Roster proves to the provider who it is. */
export type ProtocolWithSecret = 'oidc' | 'oauth' | 'ldap'

export type Added<P extends Protocol> = { type: `${P}.added`; payload: IdpSettings & Pick<Configurations, P> }
export type ConfigurationChanged<P extends Protocol> = {
  type: `${P}.changed`
  payload: Pick<Configurations, P> & (P extends ProtocolWithSecret ? { secretReplaced: boolean } : unknown)
}

/** The events of an identity provider. */
export type IdpEvent =
  | { [P in Protocol]: Added<P> | ConfigurationChanged<P> }[Protocol]
  | { type: 'changed'; payload: IdpSettings }
  | { type: 'roles.set'; payload: { roleRows: IDPRoleRow[] } }
  | { type: 'claims.set'; payload: { claims: IDPClaims } }
  | { type: 'sessions.set'; payload: { sessions: IDPSessions } }
  | { type: 'deactivated'; payload: object }
  | { type: 'reactivated'; payload: object }
  | { type: 'removed'; payload: object }

/** A provider. It has the configuration of one protocol. */
export interface Idp extends IdpSettings, Partial<Configurations> {
  claims?: IDPClaims
  roleRows?: IDPRoleRow[]
  sessions?: IDPSessions
  inactive?: boolean
  removed?: true
}

/** The provider after an event. */
export function evolveIdp(idp: Idp | undefined, event: IdpEvent): Idp {
  if (isAddition(event)) return event.payload
  if (idp === undefined) throw new Error(`a provider begins with ${event.type}`)
  switch (event.type) {
    case 'deactivated':
      return { ...idp, inactive: true }
    case 'reactivated':
      return { ...idp, inactive: false }
    case 'removed':
      return { ...idp, removed: true }
    case 'changed':
    case 'claims.set':
    case 'roles.set':
    case 'sessions.set':
    case 'jwt.changed':
    case 'saml.changed':
      return { ...idp, ...event.payload }
    default: {
      const { secretReplaced: _, ...configuration } = event.payload
      return { ...idp, ...configuration }
    }
  }
}

function isAddition(event: IdpEvent): event is { [P in Protocol]: Added<P> }[Protocol] {
  return event.type.endsWith('.added')
}

/** The configuration of one protocol, under its name. */
export function only<P extends Protocol>(protocol: P, configuration: Configurations[P]): Pick<Configurations, P> {
  return { [protocol]: configuration } as unknown as Pick<Configurations, P>
}

/** The error where no such provider exists. */
export function idpNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'IDP_NOT_FOUND', 'There is no such identity provider.')
}
