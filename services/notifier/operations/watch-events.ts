import type { WatchEventsRequest, WatchEventsResponse } from '#gen/roster/notifier/v1/event_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { follow } from '../feeds/follow.ts'

/**
 * Waits as long as the call may take: the gateway makes a stream of the answers. Answers a start at the end at once
 * with its cursor.
 */
export async function watchEvents(
  context: Context,
  request: WatchEventsRequest,
  call: Call,
): Promise<WatchEventsResponse> {
  return follow(context, request, call, request.fromEnd && request.cursor === '' ? 0 : Infinity)
}
