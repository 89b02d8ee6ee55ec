import type { UpdateOIDCConfigRequest, UpdateOIDCConfigResponse } from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changeOidc } from '../../applications/change-oidc.ts'
import { readsOfNamed } from '../../applications/named-organization.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function updateOIDCConfig(
  context: Context,
  request: UpdateOIDCConfigRequest,
  call: Call,
): Promise<UpdateOIDCConfigResponse> {
  return context.store.execute({
    aggregate: { type: 'application', id: request.appId },
    reads: readsOfNamed(request.organizationId),
    call,
    decide(application: Aggregate<Application>, _now, { named }): Decision<ApplicationEvent> {
      const own = changeableApplication(application, request, call)
      return changeOidc(context, own, { request, named, place: '' }, call)
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
