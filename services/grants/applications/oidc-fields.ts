import type { Duration } from '#gen/google/protobuf/duration'
import { type OIDCApplicationConfig, OIDCResponseType } from '#gen/roster/grants/v1/application_service'
import type { OIDC } from '../vocabulary/application.ts'

/** Settings in the fields of messages. */
export function oidcFields({
  clockSkew,
  accessTokenLifetime,
  loginBaseUri,
  organizationId = '',
  ...oidc
}: OIDC): Omit<OIDCApplicationConfig, 'clientId' | 'effective'> {
  return {
    ...oidc,
    organizationId,
    responseTypes: [OIDCResponseType.OIDC_RESPONSE_TYPE_CODE],
    clockSkew: toDuration(clockSkew),
    accessTokenLifetime: toDuration(accessTokenLifetime),
    loginVersion:
      loginBaseUri === undefined ? undefined : { version: { $case: 'loginV2', value: { baseUri: loginBaseUri } } },
  }
}

function toDuration(seconds: number): Duration | undefined {
  return seconds === 0 ? undefined : { seconds, nanos: 0 }
}
