import type {
  RemoveMyOrganizationRequest,
  RemoveMyOrganizationResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { removeOrganization } from './remove-organization.ts'

export async function removeMyOrganization(
  context: Context,
  _request: RemoveMyOrganizationRequest,
  call: Call,
): Promise<RemoveMyOrganizationResponse> {
  return removeOrganization(context, { orgId: call.organizationId }, call)
}
