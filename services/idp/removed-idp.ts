import type { Decision } from '#lib/eventstore/command'
import { nameKey } from './idp-name.ts'
import type { Idp, IdpEvent } from './vocabulary.ts'

/** The decision to remove a provider of this owner for good. A provider that was removed before stays as it is. */
export function removedIdp(organizationId: string, idp: Idp | undefined): Decision<IdpEvent> {
  if (!idp || idp.removed) return { events: [], answer: undefined }
  return {
    releases: [nameKey(organizationId, idp.name)],
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}
