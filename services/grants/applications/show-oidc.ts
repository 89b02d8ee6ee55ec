import {
  type EffectiveOIDCSettings,
  IDTokenAlgorithm,
  type OIDCApplicationConfig,
} from '#gen/roster/grants/v1/application_service'
import type { OIDC } from '../vocabulary/application.ts'
import { oidcFields } from './oidc-fields.ts'

/** `personTokenLifetime`: how long access tokens of people live at most, in seconds, if that is known. */
export function showOidc(clientId: string, oidc: OIDC, personTokenLifetime: number | undefined): OIDCApplicationConfig {
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
