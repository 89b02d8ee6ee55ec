import type { AddOIDCIDPRequest, AddOIDCIDPResponse } from '#gen/roster/idp/v1/identity_provider_service'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { sealedSecrets } from '../client-secrets.ts'
import type { Context } from '../context.ts'
import { nameKey } from '../idp-name.ts'
import type { IdpEvent } from '../vocabulary.ts'

export async function addOidcIdp(
  { store, keys }: Context,
  request: AddOIDCIDPRequest,
  call: Call,
): Promise<AddOIDCIDPResponse> {
  const { name, stylingType, autoRegister, clientId, clientSecret, issuer, scopes } = request
  const id = uuid()
  const sealed = keys.seal(sealedSecrets.purpose, clientSecret)
  return store.execute({
    aggregate: { type: 'idp', id },
    call,
    decide: (): Decision<IdpEvent> => ({
      organizationId: instance.id,
      claims: [nameKey(name)],
      events: [
        { type: 'oidc.added', payload: { name, stylingType, autoRegister, oidc: { clientId, issuer, scopes } } },
      ],
      writes: [(sql) => sql`insert into client_secrets (idp_id, sealed) values (${id}, ${sealed})`],
      answer: undefined,
    }),
    respond: ({ after }) => ({ idpId: after.id, details: details(after) }),
  })
}
