import type {
  SearchInstanceMembersRequest,
  SearchInstanceMembersResponse,
} from '#gen/roster/grants/v1/instance_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { onInstance } from '../../members/place.ts'
import { searchMembers } from '../../members/search-members.ts'

export function searchInstanceMembers(
  context: Context,
  request: SearchInstanceMembersRequest,
  call: Call,
): Promise<SearchInstanceMembersResponse> {
  return searchMembers(context, 'SearchInstanceMembers', onInstance, request, call)
}
