import type { GetIdentityProviderRequest, GetIdentityProviderResponse } from '#gen/roster/idp/v1/provider_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { showKind } from '../../kinds/show-kind.ts'
import { ownIdp } from '../../own-idp.ts'
import type { Idp } from '../../vocabulary.ts'

export async function getIdentityProvider(
  { store }: Context,
  { idpId }: GetIdentityProviderRequest,
  call: Call,
): Promise<GetIdentityProviderResponse> {
  return { identityProvider: showKind(ownIdp<Existing<Idp>>(await store.load<Idp>('idp', idpId), call)) }
}
