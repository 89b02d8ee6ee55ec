import type { GetIDPRequest, GetIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { ownIdp } from '../own-idp.ts'
import { showIdp } from '../show.ts'
import type { Idp } from '../vocabulary.ts'

export async function getIdp({ store }: Context, { idpId }: GetIDPRequest, call: Call): Promise<GetIDPResponse> {
  return { idp: showIdp(ownIdp<Existing<Idp>>(await store.load<Idp>('idp', idpId), call)) }
}
