import type {
  UpdateIDPOAuthConfigRequest,
  UpdateIDPOAuthConfigResponse,
} from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeConfiguration } from '../change-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkOauthPreset } from '../presets.ts'
import { checkScopes, newScopes } from '../scopes.ts'

const checkEndpoints = checkUrls(['tokenEndpoint', 'userEndpoint'], ['authorizationEndpoint'])

export const updateIdpOauthConfig = {
  check: (context: Context, request: UpdateIDPOAuthConfigRequest) => [
    ...checkEndpoints(context, request),
    ...checkScopes(request),
  ],

  async handle(
    context: Context,
    request: UpdateIDPOAuthConfigRequest,
    call: Call,
  ): Promise<UpdateIDPOAuthConfigResponse> {
    const { idpId, clientId, clientSecret, authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute } = request
    const endpoints = { authorizationEndpoint, tokenEndpoint, userEndpoint }
    const changes = { clientId, ...endpoints, scopes: newScopes(request), idAttribute }
    const secret = { replacement: clientSecret }
    return changeConfiguration(context, idpId, call, 'oauth', changes, secret, (before) =>
      checkOauthPreset({ preset: before.preset, idAttribute: idAttribute ?? before.idAttribute }),
    )
  },
}
