import type { AddOIDCIDPRequest, AddOIDCIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import type { Context } from '../context.ts'
import { checkUrls } from '../check-urls.ts'

export const addOidcIdp = {
  check: checkUrls(['issuer']),

  async handle(context: Context, request: AddOIDCIDPRequest, call: Call): Promise<AddOIDCIDPResponse> {
    const { clientId, clientSecret, issuer, scopes } = request
    return addIdp(context, call, 'oidc', request, { clientId, issuer, scopes }, clientSecret)
  },
}
