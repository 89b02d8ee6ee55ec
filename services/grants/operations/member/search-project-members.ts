import type {
  SearchProjectMembersRequest,
  SearchProjectMembersResponse,
} from '#gen/roster/grants/v1/project_member_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { searchMembers } from '../../members/search-members.ts'

export function searchProjectMembers(
  context: Context,
  request: SearchProjectMembersRequest,
  call: Call,
): Promise<SearchProjectMembersResponse> {
  return searchMembers(
    context,
    'SearchProjectMembers',
    { organizationId: call.organizationId, projectId: request.projectId },
    request,
    call,
  )
}
