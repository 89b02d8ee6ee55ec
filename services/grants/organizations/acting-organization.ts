import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { Organization } from '../vocabulary/organization.ts'
import { existingOrganization } from './active-organization.ts'
import { organizationNotFound } from './organization-not-found.ts'

/** The acting organization, active or not. NOT_FOUND ORGANIZATION_NOT_FOUND. */
export async function actingOrganization(
  { store }: Pick<Context, 'store'>,
  { organizationId }: Pick<Call, 'organizationId'>,
): Promise<Existing<Organization>> {
  const organization = await store.load<Organization>('organization', organizationId)
  if (!organization) throw organizationNotFound()
  existingOrganization(organization)
  return organization
}
