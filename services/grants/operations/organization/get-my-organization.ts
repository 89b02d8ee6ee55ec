import type { GetMyOrganizationRequest, GetMyOrganizationResponse } from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { getOrganization } from './get-organization.ts'

export async function getMyOrganization(
  context: Context,
  _request: GetMyOrganizationRequest,
  { organizationId }: Call,
): Promise<GetMyOrganizationResponse> {
  return getOrganization(context, { orgId: organizationId })
}
