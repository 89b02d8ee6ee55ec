import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { idOfDigits } from '#lib/id-of-digits'
import type { Call } from '#lib/rpc/headers'
import { receiverOf, sealSecret, storeSecret } from './client-secrets.ts'
import type { Context } from './context.ts'
import { nameKey } from './idp-name.ts'
import { tombstones } from './organizations.ts'
import { refuseRemovedOrganization } from '../organization-status.ts'
import { type Configurations, type IdpEvent, type IdpSettings, only, type Protocol } from './vocabulary.ts'

/** Adds a provider of this protocol to the owner that the call is for; `more` follows. ALREADY_EXISTS IDP_NAME_TAKEN. */
export async function addIdp<P extends Protocol>(
  { store, keys }: Context,
  call: Call,
  protocol: P,
  { name, stylingType, autoRegister, refusesLinking, asksFirst }: IdpSettings,
  configuration: Configurations[P],
  { secret, more = [] }: { secret?: string | undefined; more?: IdpEvent[] } = {},
): Promise<{ idpId: string; details: ObjectDetails }> {
  const id = idOfDigits()
  const settings = only(protocol, configuration)
  const ofWhole = { ...(refusesLinking && { refusesLinking }), ...(asksFirst && { asksFirst }) }
  const payload = { name, stylingType, autoRegister, ...ofWhole, ...settings }
  const writes = secret === undefined ? [] : [storeSecret(id, sealSecret(keys, secret), receiverOf(settings))]
  return store.execute({
    aggregate: { type: 'idp', id },
    call,
    reads: { tombstone: tombstones.key(call.organizationId) },
    decide(_idp, _now, { tombstone }): Decision<IdpEvent> {
      refuseRemovedOrganization(tombstone)
      return {
        organizationId: call.organizationId,
        claims: [nameKey(call.organizationId, name)],
        events: [{ type: `${protocol}.added`, payload } as unknown as IdpEvent, ...more],
        writes,
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ idpId: after.id, details: details(after) }),
  })
}
