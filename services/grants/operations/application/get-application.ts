import type { GetApplicationRequest, GetApplicationResponse } from '#gen/roster/grants/v1/application_service'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import { showApplication } from '../../show.ts'
import type { Application } from '../../vocabulary/application.ts'

export async function getApplication(
  { store }: Context,
  request: GetApplicationRequest,
  call: Call,
): Promise<GetApplicationResponse> {
  const application = await store.load<Application>('application', request.appId)
  return { application: showApplication(ownApplication(application, request, call)) }
}
