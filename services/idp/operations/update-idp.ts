import type { UpdateIDPRequest, UpdateIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { UpdateOrganizationIDPRequest } from '#gen/roster/idp/v1/organization_identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { nameKey } from '../idp-name.ts'

/** A request of UpdateIDP has every field. */
export async function updateIdp(
  context: Context,
  request: UpdateIDPRequest | UpdateOrganizationIDPRequest,
  call: Call,
): Promise<UpdateIDPResponse> {
  return changeIdp(context, request.idpId, call, (idp) => {
    const { name = idp.name, stylingType = idp.stylingType, autoRegister = idp.autoRegister } = request
    if (name === idp.name && stylingType === idp.stylingType && autoRegister === idp.autoRegister) return { events: [] }
    const [before, after] = [nameKey(call.organizationId, idp.name), nameKey(call.organizationId, name)]
    const renamed = before.key !== after.key
    return {
      claims: renamed ? [after] : [],
      releases: renamed ? [before] : [],
      events: [{ type: 'changed', payload: { name, stylingType, autoRegister } }],
    }
  })
}
