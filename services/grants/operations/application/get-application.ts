import type { GetApplicationRequest, GetApplicationResponse } from '#gen/roster/grants/v1/application_service'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import { personTokenLifetime } from '../../applications/person-token-lifetime.ts'
import type { Context } from '../../context.ts'
import { showApplication } from '../../show.ts'
import type { Application } from '../../vocabulary/application.ts'

export async function getApplication(
  context: Context,
  request: GetApplicationRequest,
  call: Call,
): Promise<GetApplicationResponse> {
  const application = await context.store.load<Application>('application', request.appId)
  const projectId = request.projectId || (application?.state?.projectId ?? '')
  const own = ownApplication(application, { projectId }, call)
  return { application: showApplication(own, await personTokenLifetime(context, call)) }
}
