import type { GetOrganizationRequest, GetOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import type { Context } from '../../context.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import { showOrganization } from '../../show.ts'
import type { Organization } from '../../vocabulary/organization.ts'

export async function getOrganization(
  { store }: Context,
  { orgId }: GetOrganizationRequest,
): Promise<GetOrganizationResponse> {
  const organization = await store.load<Organization>('organization', orgId)
  if (!organization || organization.state.removed) throw organizationNotFound()
  return { organization: showOrganization(organization) }
}
