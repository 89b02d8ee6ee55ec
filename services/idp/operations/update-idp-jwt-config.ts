import type {
  UpdateIDPJWTConfigRequest,
  UpdateIDPJWTConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeConfiguration } from '../change-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'

export const updateIdpJwtConfig = {
  check: checkUrls(['keysEndpoint'], ['jwtEndpoint']),

  async handle(context: Context, request: UpdateIDPJWTConfigRequest, call: Call): Promise<UpdateIDPJWTConfigResponse> {
    const { idpId, jwtEndpoint, issuer, keysEndpoint, headerName, audience } = request
    const changes = { jwtEndpoint, issuer, keysEndpoint, headerName, audience }
    return changeConfiguration(context, idpId, call, 'jwt', changes)
  },
}
