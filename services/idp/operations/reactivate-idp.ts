import type { ReactivateIDPRequest, ReactivateIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'

export async function reactivateIdp(
  context: Context,
  { idpId }: ReactivateIDPRequest,
  call: Call,
): Promise<ReactivateIDPResponse> {
  return changeIdp(context, idpId, call, ({ inactive }) => {
    if (!inactive) throw notInactive()
    return { events: [{ type: 'reactivated', payload: {} }] }
  })
}

function notInactive() {
  return new RosterError('FAILED_PRECONDITION', 'IDP_NOT_INACTIVE', 'The identity provider is not inactive.')
}
