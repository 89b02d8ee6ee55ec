import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { organizationNotFound } from './organization-not-found.ts'
import type { Organization } from '../vocabulary/organization.ts'

/**
 * Throws unless the organization may get something new: NOT_FOUND ORGANIZATION_NOT_FOUND for an unknown and a removed
 * one, FAILED_PRECONDITION ORGANIZATION_INACTIVE.
 */
export function refuseInactive(organization: Aggregate<Organization>): void {
  const { inactive } = existingOrganization(organization)
  if (inactive)
    throw new RosterError('FAILED_PRECONDITION', 'ORGANIZATION_INACTIVE', 'The organization is deactivated.')
}

/** The organization, active or not. NOT_FOUND ORGANIZATION_NOT_FOUND where there is none, or it was removed. */
export function existingOrganization({ state }: Aggregate<Organization>): Organization {
  if (!state || state.removed) throw organizationNotFound()
  return state
}
