import type {
  ListApplicationChangesRequest,
  ListApplicationChangesResponse,
} from '#gen/roster/grants/v1/application_service'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import { findChanges } from '../../search/changes.ts'
import type { Application } from '../../vocabulary/application.ts'

export async function listApplicationChanges(
  context: Context,
  request: ListApplicationChangesRequest,
  call: Call,
): Promise<ListApplicationChangesResponse> {
  const application = await context.store.load<Application>('application', request.appId)
  const { id } = ownApplication(application, request, call)
  return findChanges(context, { type: 'application', id }, { method: 'ListApplicationChanges', request, call })
}
