import {
  type GetMyOrganizationRequest,
  type GetMyOrganizationResponse,
  OrganizationState,
} from '#gen/roster/grants/v1/organization_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { organizationNotFound } from '../../organization-not-found.ts'
import type { Organization } from '../../vocabulary/organization.ts'

export async function getMyOrganization(
  { store }: Context,
  _request: GetMyOrganizationRequest,
  call: Call,
): Promise<GetMyOrganizationResponse> {
  const organization = await store.load<Organization>('organization', call.organizationId)
  if (!organization) throw organizationNotFound()
  return {
    organization: {
      id: organization.id,
      details: details(organization),
      state: OrganizationState.ORGANIZATION_STATE_ACTIVE,
      ...organization.state,
    },
  }
}
