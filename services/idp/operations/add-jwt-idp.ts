import type { AddJWTIDPRequest, AddJWTIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../add-idp.ts'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'

export const addJwtIdp = {
  check: checkUrls(['keysEndpoint'], ['jwtEndpoint']),

  async handle(context: Context, request: AddJWTIDPRequest, call: Call): Promise<AddJWTIDPResponse> {
    const { jwtEndpoint, issuer, keysEndpoint, headerName, audience } = request
    const configuration = { jwtEndpoint, issuer, keysEndpoint, headerName, ...(audience && { audience }) }
    return addIdp(context, call, 'jwt', request, configuration)
  },
}
