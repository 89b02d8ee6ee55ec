import type {
  UpdateIDPOIDCConfigRequest,
  UpdateIDPOIDCConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeConfiguration } from '../change-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkScopes, newScopes } from '../scopes.ts'

export const updateIdpOidcConfig = {
  check: (context: Context, request: UpdateIDPOIDCConfigRequest) => [
    ...checkUrls(['issuer'])(context, request),
    ...checkScopes(request),
  ],

  async handle(
    context: Context,
    request: UpdateIDPOIDCConfigRequest,
    call: Call,
  ): Promise<UpdateIDPOIDCConfigResponse> {
    const { idpId, clientId, clientSecret, issuer } = request
    const changes = { clientId, issuer, scopes: newScopes(request) }
    return changeConfiguration(context, idpId, call, 'oidc', changes, { replacement: clientSecret })
  },
}
