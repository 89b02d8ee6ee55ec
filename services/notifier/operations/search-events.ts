import type { SearchEventsRequest, SearchEventsResponse } from '#gen/roster/notifier/v1/event_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { follow } from '../feeds/follow.ts'

export async function searchEvents(
  context: Context,
  request: SearchEventsRequest,
  call: Call,
): Promise<SearchEventsResponse> {
  return follow(context, request, call, request.waitSeconds * 1000)
}
