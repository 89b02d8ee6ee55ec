import { type GetIDPRequest, type GetIDPResponse, IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../context.ts'
import { type Idp, idpNotFound } from '../vocabulary.ts'

export async function getIdp({ store }: Context, { idpId }: GetIDPRequest): Promise<GetIDPResponse> {
  const idp = await store.load<Idp>('idp', idpId)
  if (!idp) throw idpNotFound()
  return { idp: { id: idp.id, details: details(idp), state: IDPState.IDP_STATE_ACTIVE, ...idp.state } }
}
