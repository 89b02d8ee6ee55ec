import type { AddAPIApplicationRequest, AddAPIApplicationResponse } from '#gen/roster/grants/v1/application_service'
import type { Call } from '#lib/rpc/headers'
import { addApplication } from '../../applications/add-application.ts'
import { reservedClientId } from '../../applications/client-id.ts'
import { permitChosenId } from '../../chosen-id.ts'
import type { Context } from '../../context.ts'

export const addAPIApplication = {
  permit({ appId, clientId }: AddAPIApplicationRequest, { caller }: Call): void {
    permitChosenId(caller, 'project.app.write', appId ?? clientId)
  },

  check: (_context: Context, request: AddAPIApplicationRequest) => reservedClientId(request),

  handle(context: Context, request: AddAPIApplicationRequest, call: Call): Promise<AddAPIApplicationResponse> {
    return addApplication(context, request, { api: { authMethodType: request.authMethodType } }, call)
  },
}
