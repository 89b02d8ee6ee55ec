import type { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'
import { RosterError } from '#lib/errors'

/** The events of an identity provider. */
export type IdpEvent =
  | { type: 'oidc.added'; payload: IdpSettings & { oidc: OidcConfig } }
  | { type: 'changed'; payload: IdpSettings }

/** The settings that every provider has. */
export interface IdpSettings {
  name: string
  stylingType: IDPStylingType
  autoRegister: boolean
}

/** Without the client secret, which is sealed in a table of its own. */
export interface OidcConfig {
  clientId: string
  issuer: string
  scopes: string[]
}

export interface Idp extends IdpSettings {
  oidc: OidcConfig
}

/** The provider after an event. */
export function evolveIdp(idp: Idp | undefined, event: IdpEvent): Idp {
  if (event.type === 'oidc.added') return event.payload
  if (idp === undefined) throw new Error(`a provider begins with ${event.type}`)
  return { ...idp, ...event.payload }
}

/** The error where no such provider exists. */
export function idpNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'IDP_NOT_FOUND', 'There is no such identity provider.')
}
