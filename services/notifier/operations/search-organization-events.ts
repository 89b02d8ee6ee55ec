import type {
  SearchOrganizationEventsRequest,
  SearchOrganizationEventsResponse,
} from '#gen/roster/notifier/v1/event_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { follow } from '../feeds/follow.ts'
import { ofOrganization } from '../feeds/organization-filter.ts'

export async function searchOrganizationEvents(
  context: Context,
  request: SearchOrganizationEventsRequest,
  call: Call,
): Promise<SearchOrganizationEventsResponse> {
  const filter = ofOrganization(request.filter, call.organizationId)
  return follow(context, { ...request, filter }, call, request.waitSeconds * 1000)
}
