import type { UpdateApplicationRequest, UpdateApplicationResponse } from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function updateApplication(
  { store }: Context,
  request: UpdateApplicationRequest,
  call: Call,
): Promise<UpdateApplicationResponse> {
  const { appId, name } = request
  return store.execute({
    aggregate: { type: 'application', id: appId },
    call,
    decide(application: Aggregate<Application>): Decision<ApplicationEvent> {
      const { state } = changeableApplication(application, request, call)
      if (name === undefined || name === state.name) return { events: [], answer: undefined }
      return { events: [{ type: 'changed', payload: { name } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
