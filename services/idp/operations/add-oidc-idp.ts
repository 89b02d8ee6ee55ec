import type { AddOIDCIDPRequest, AddOIDCIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import type { Context } from '../context.ts'
import { checkUrls } from '../check-urls.ts'
import { checkOidcPreset } from '../presets.ts'

export const addOidcIdp = {
  check: (context: Context, request: AddOIDCIDPRequest) => [
    ...checkUrls(['issuer'])(context, request),
    ...checkOidcPreset(request),
  ],

  async handle(context: Context, request: AddOIDCIDPRequest, call: Call): Promise<AddOIDCIDPResponse> {
    const { clientId, clientSecret, issuer, scopes, preset, tenants, appleKey } = request
    const ofPreset = { ...(preset && { preset }), ...(tenants && { tenants }), ...(appleKey && { appleKey }) }
    return addIdp(context, call, 'oidc', request, { clientId, issuer, scopes, ...ofPreset }, { secret: clientSecret })
  },
}
