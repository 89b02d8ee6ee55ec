import type {
  WatchOrganizationEventsRequest,
  WatchOrganizationEventsResponse,
} from '#gen/roster/notifier/v1/event_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { follow } from '../feeds/follow.ts'
import { ofOrganization } from '../feeds/organization-filter.ts'

/**
 * Waits as long as the call may take: the gateway makes a stream of the answers. Answers a start at the end at once
 * with its cursor.
 */
export async function watchOrganizationEvents(
  context: Context,
  request: WatchOrganizationEventsRequest,
  call: Call,
): Promise<WatchOrganizationEventsResponse> {
  const filter = ofOrganization(request.filter, call.organizationId)
  return follow(context, { ...request, filter }, call, request.fromEnd && request.cursor === '' ? 0 : Infinity)
}
