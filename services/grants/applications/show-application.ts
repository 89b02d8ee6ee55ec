import {
  type Application as ShownApplication,
  ApplicationState,
  type EffectiveOIDCSettings,
  IDTokenAlgorithm,
  type OIDCApplicationConfig,
} from '#gen/roster/grants/v1/application_service'
import { details, type Existing } from '#lib/eventstore/aggregate'
import type { Application, OIDC } from '../vocabulary/application.ts'
import { oidcFields } from './oidc-fields.ts'

/** `personTokenLifetime`: how long access tokens of people live at most, in seconds, if that is known. */
export function showApplication(
  application: Existing<Application>,
  personTokenLifetime: number | undefined,
): ShownApplication {
  const { projectId, name, clientId, inactive, oidc, api } = application.state
  return {
    id: application.id,
    details: details(application),
    state: inactive ? ApplicationState.APPLICATION_STATE_INACTIVE : ApplicationState.APPLICATION_STATE_ACTIVE,
    name,
    config: oidc
      ? { $case: 'oidcConfig', value: showOidc(clientId, oidc, personTokenLifetime) }
      : { $case: 'apiConfig', value: { clientId, ...api!, effective: { ...api! } } },
    projectId,
  }
}

function showOidc(clientId: string, oidc: OIDC, personTokenLifetime: number | undefined): OIDCApplicationConfig {
  const fields = oidcFields(oidc)
  return { ...fields, clientId, effective: effectiveOidc(fields, oidc, personTokenLifetime) }
}

function effectiveOidc(
  { responseTypes, loginVersion = { version: { $case: 'loginV1', value: {} } } }: ReturnType<typeof oidcFields>,
  oidc: OIDC,
  personTokenLifetime: number | undefined,
): EffectiveOIDCSettings {
  const lifetime = personTokenLifetime && Math.min(personTokenLifetime, oidc.accessTokenLifetime || Infinity)
  return {
    ...oidc,
    responseTypes,
    loginVersion,
    clockSkew: { seconds: oidc.clockSkew, nanos: 0 },
    idTokenAlgorithm: oidc.idTokenAlgorithm || IDTokenAlgorithm.ID_TOKEN_ALGORITHM_RS256,
    accessTokenLifetime: lifetime === undefined ? undefined : { seconds: lifetime, nanos: 0 },
  }
}
