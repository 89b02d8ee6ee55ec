import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import type { UniqueKey } from '#lib/eventstore/command'

/** The unique key of a name, which one provider in the instance may have. */
export function nameKey(name: string): UniqueKey & { taken: RosterError } {
  const taken = new RosterError(
    'ALREADY_EXISTS',
    'IDP_NAME_TAKEN',
    'There is already an identity provider with this name.',
  )
  return { kind: 'idp_name', scope: '', key: canonicalName(name), taken }
}
