import type { AddOAuthIDPRequest, AddOAuthIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'

export const addOauthIdp = {
  check: checkUrls(['tokenEndpoint', 'userEndpoint'], ['authorizationEndpoint']),

  async handle(context: Context, request: AddOAuthIDPRequest, call: Call): Promise<AddOAuthIDPResponse> {
    const { clientId, clientSecret, authorizationEndpoint, tokenEndpoint, userEndpoint, scopes, idAttribute } = request
    const configuration = { clientId, authorizationEndpoint, tokenEndpoint, userEndpoint, scopes, idAttribute }
    return addIdp(context, call, 'oauth', request, configuration, clientSecret)
  },
}
