import type { AddOAuthIDPRequest, AddOAuthIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkOauthPreset } from '../presets.ts'

export const addOauthIdp = {
  check: (context: Context, request: AddOAuthIDPRequest) => [
    ...checkUrls(['tokenEndpoint', 'userEndpoint'], ['authorizationEndpoint'])(context, request),
    ...checkOauthPreset(request),
  ],

  async handle(context: Context, request: AddOAuthIDPRequest, call: Call): Promise<AddOAuthIDPResponse> {
    const { clientId, clientSecret, authorizationEndpoint, tokenEndpoint, userEndpoint, scopes, idAttribute } = request
    const ofPreset = request.preset ? { preset: request.preset } : {}
    const endpoints = { authorizationEndpoint, tokenEndpoint, userEndpoint }
    const configuration = { clientId, ...endpoints, scopes, idAttribute, ...ofPreset }
    return addIdp(context, call, 'oauth', request, configuration, { secret: clientSecret })
  },
}
