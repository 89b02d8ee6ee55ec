import { invalid } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import { keyOfOrganization, type Organization } from '../vocabulary/organization.ts'

/** What a decision reads in addition, for the organization that settings name. */
export function readsOfNamed(organizationId: string | undefined): { named: AggregateKey<Organization> | undefined } {
  return { named: organizationId ? keyOfOrganization(organizationId) : undefined }
}

/**
 * INVALID_ARGUMENT names the field, if settings name an organization that nobody could come from. As for a grant of a
 * project, a foreign one that is deactivated and an unknown one get the same answer, and any other may be named: its
 * people alone get in, and it has nothing to lose.
 */
export function refuseUnknownOrganization(named: Aggregate<Organization> | undefined, field = 'organizationId'): void {
  const { state } = named ?? {}
  if (named && (!state || state.removed || state.inactive))
    throw invalid([{ field, description: 'must be that of an organization that is active' }])
}
