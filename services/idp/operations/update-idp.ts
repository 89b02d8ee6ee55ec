import type { UpdateIDPRequest, UpdateIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { UpdateOrganizationIDPRequest } from '#gen/roster/idp/v1/organization_identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { settingsChange } from '../settings-change.ts'

/** A request of UpdateIDP has every field that the specification gives it. */
export async function updateIdp(
  context: Context,
  request: UpdateIDPRequest | UpdateOrganizationIDPRequest,
  call: Call,
): Promise<UpdateIDPResponse> {
  const { refusesLinking, asksFirst } = request
  if (refusesLinking || asksFirst) await refuseBesideFormer(context.sql)
  return changeIdp(context, request.idpId, call, (idp) => {
    const { name = idp.name, stylingType = idp.stylingType, autoRegister = idp.autoRegister } = request
    return settingsChange(call.organizationId, idp, {
      name,
      stylingType,
      autoRegister,
      ...(refusesLinking !== undefined && { refusesLinking }),
      ...(asksFirst !== undefined && { asksFirst }),
    })
  })
}
