import type { UpdateOIDCConfigRequest, UpdateOIDCConfigResponse } from '#gen/roster/grants/v1/application_service'
import { invalid } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changedConfig, typeMismatch } from '../../applications/change-config.ts'
import { readsOfNamed, refuseUnknownOrganization } from '../../applications/named-organization.ts'
import { changedOidc, faultsOf } from '../../applications/oidc-config.ts'
import { changeableApplication, permitSettings } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function updateOIDCConfig(
  { store, config }: Context,
  request: UpdateOIDCConfigRequest,
  call: Call,
): Promise<UpdateOIDCConfigResponse> {
  return store.execute({
    aggregate: { type: 'application', id: request.appId },
    reads: readsOfNamed(request.organizationId),
    call,
    decide(application: Aggregate<Application>, _now, { named }): Decision<ApplicationEvent> {
      const { id, state } = changeableApplication(application, request, call)
      if (!state.oidc) throw typeMismatch()
      // What is not sent stays, so the whole is known only here.
      const oidc = changedOidc(request, state.oidc)
      permitSettings(call.caller, oidc, state.oidc)
      const faults = faultsOf(oidc, request, state.clientId !== id, config.WEBHOOK_ALLOW_PRIVATE)
      if (faults.length > 0) throw invalid(faults)
      if (oidc.organizationId !== state.oidc.organizationId) refuseUnknownOrganization(named)
      return changedConfig({ oidc: state.oidc }, { oidc })
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
