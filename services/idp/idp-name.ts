import { canonicalName } from '#lib/search/canonical-name'
import { RosterError } from '#lib/errors'
import type { UniqueKey } from '#lib/eventstore/command'
import { instance } from '#lib/instance'

/** The kind of the unique keys that hold names of providers. */
export const nameKind = 'idp_name'

/** The unique key of a name, which one provider of an owner may have. */
export function nameKey(organizationId: string, name: string): UniqueKey & { taken: RosterError } {
  const taken = new RosterError(
    'ALREADY_EXISTS',
    'IDP_NAME_TAKEN',
    'There is already an identity provider with this name.',
  )
  // The instance had providers before organizations had any: its keys name no owner.
  const scope = organizationId === instance.id ? '' : organizationId
  return { kind: nameKind, scope, key: canonicalName(name), taken }
}
