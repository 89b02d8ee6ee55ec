import type { DeactivateIDPRequest, DeactivateIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'

export async function deactivateIdp(
  context: Context,
  { idpId }: DeactivateIDPRequest,
  call: Call,
): Promise<DeactivateIDPResponse> {
  return changeIdp(context, idpId, call, ({ inactive }) => {
    if (inactive) throw alreadyInactive()
    return { events: [{ type: 'deactivated', payload: {} }] }
  })
}

function alreadyInactive() {
  return new RosterError('FAILED_PRECONDITION', 'IDP_ALREADY_INACTIVE', 'The identity provider is inactive already.')
}
