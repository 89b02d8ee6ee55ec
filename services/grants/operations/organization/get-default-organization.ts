import type {
  GetDefaultOrganizationRequest,
  GetDefaultOrganizationResponse,
} from '#gen/roster/grants/v1/organization_service'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { getOrganization } from './get-organization.ts'

export async function getDefaultOrganization(
  context: Context,
  _request: GetDefaultOrganizationRequest,
): Promise<GetDefaultOrganizationResponse> {
  return getOrganization(context, { orgId: instance.organization.id })
}
