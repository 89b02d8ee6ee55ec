import type { RemoveIDPRequest, RemoveIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'
import { removedIdp } from '../removed-idp.ts'

export async function removeIdp(context: Context, { idpId }: RemoveIDPRequest, call: Call): Promise<RemoveIDPResponse> {
  return changeIdp(context, idpId, call, (idp) => removedIdp(call.organizationId, idp))
}
