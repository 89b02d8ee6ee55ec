import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { receiverOf, sealSecret, storeSecret } from './client-secrets.ts'
import type { Context } from './context.ts'
import { nameKey } from './idp-name.ts'
import { tombstones } from './organizations.ts'
import { refuseRemovedOrganization } from '../organization-status.ts'
import { type Added, type Configurations, type IdpSettings, only, type Protocol } from './vocabulary.ts'

/** Adds a provider of this protocol to the owner that the call is for. ALREADY_EXISTS IDP_NAME_TAKEN. */
export async function addIdp<P extends Protocol>(
  { store, keys }: Context,
  call: Call,
  protocol: P,
  { name, stylingType, autoRegister }: IdpSettings,
  configuration: Configurations[P],
  secret?: string,
): Promise<{ idpId: string; details: ObjectDetails }> {
  const id = uuid()
  const settings = only(protocol, configuration)
  const payload = { name, stylingType, autoRegister, ...settings }
  const writes = secret === undefined ? [] : [storeSecret(id, sealSecret(keys, secret), receiverOf(settings))]
  return store.execute({
    aggregate: { type: 'idp', id },
    call,
    reads: { tombstone: tombstones.key(call.organizationId) },
    decide(_idp, _now, { tombstone }): Decision<Added<P>> {
      refuseRemovedOrganization(tombstone)
      return {
        organizationId: call.organizationId,
        claims: [nameKey(call.organizationId, name)],
        events: [{ type: `${protocol}.added`, payload }],
        writes,
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ idpId: after.id, details: details(after) }),
  })
}
