import type { AddOIDCApplicationRequest, AddOIDCApplicationResponse } from '#gen/roster/grants/v1/application_service'
import type { Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { addApplication } from '../../applications/add-application.ts'
import { reservedClientId } from '../../applications/client-id.ts'
import { faultsOf, newOidc } from '../../applications/oidc-config.ts'
import { permitSettings } from '../../applications/trusted-application.ts'
import { permitChosenId } from '../../chosen-id.ts'
import type { Context } from '../../context.ts'

export const addOIDCApplication = {
  permit(request: AddOIDCApplicationRequest, { caller }: Call): void {
    permitChosenId(caller, 'project.app.write', request.appId ?? request.clientId)
    permitSettings(caller, newOidc(request))
  },

  check: ({ config }: Context, request: AddOIDCApplicationRequest): Violation[] => [
    ...reservedClientId(request),
    ...faultsOf(newOidc(request), request, request.clientId !== undefined, config.WEBHOOK_ALLOW_PRIVATE),
  ],

  handle(context: Context, request: AddOIDCApplicationRequest, call: Call): Promise<AddOIDCApplicationResponse> {
    return addApplication(context, request, { oidc: newOidc(request) }, call)
  },
}
