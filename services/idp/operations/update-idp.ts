import type { UpdateIDPRequest, UpdateIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { nameKey } from '../idp-name.ts'
import { type Idp, type IdpEvent, idpNotFound } from '../vocabulary.ts'

export async function updateIdp({ store }: Context, request: UpdateIDPRequest, call: Call): Promise<UpdateIDPResponse> {
  return store.execute({
    aggregate: { type: 'idp', id: request.idpId },
    call,
    decide: (idp: Aggregate<Idp>) => decide(idp, request),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide(
  { state: idp }: Aggregate<Idp>,
  { name, stylingType, autoRegister }: UpdateIDPRequest,
): Decision<IdpEvent> {
  if (!idp) throw idpNotFound()
  if (name === idp.name && stylingType === idp.stylingType && autoRegister === idp.autoRegister)
    return { events: [], answer: undefined }
  const [before, after] = [nameKey(idp.name), nameKey(name)]
  const renamed = before.key !== after.key
  return {
    claims: renamed ? [after] : [],
    releases: renamed ? [before] : [],
    events: [{ type: 'changed', payload: { name, stylingType, autoRegister } }],
    answer: undefined,
  }
}
