import type {
  SearchOrganizationMembersRequest,
  SearchOrganizationMembersResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { searchMembers } from '../../members/search-members.ts'

export function searchOrganizationMembers(
  context: Context,
  request: SearchOrganizationMembersRequest,
  call: Call,
): Promise<SearchOrganizationMembersResponse> {
  return searchMembers(context, 'SearchOrganizationMembers', { organizationId: call.organizationId }, request, call)
}
