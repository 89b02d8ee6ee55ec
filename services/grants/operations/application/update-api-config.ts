import type { UpdateAPIConfigRequest, UpdateAPIConfigResponse } from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changedConfig, typeMismatch } from '../../applications/change-config.ts'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function updateAPIConfig(
  { store }: Context,
  request: UpdateAPIConfigRequest,
  call: Call,
): Promise<UpdateAPIConfigResponse> {
  const { appId, authMethodType } = request
  return store.execute({
    aggregate: { type: 'application', id: appId },
    call,
    decide(application: Aggregate<Application>): Decision<ApplicationEvent> {
      const { state } = ownApplication(application, request, call)
      if (!state.api) throw typeMismatch()
      return changedConfig({ api: state.api }, { api: { authMethodType } })
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
