import type { RemoveApplicationRequest, RemoveApplicationResponse } from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import { removedApplication } from '../../applications/removed-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function removeApplication(
  { store }: Context,
  request: RemoveApplicationRequest,
  call: Call,
): Promise<RemoveApplicationResponse> {
  return store.execute({
    aggregate: { type: 'application', id: request.appId },
    call,
    decide: (application: Aggregate<Application>): Decision<ApplicationEvent> =>
      removedApplication(ownApplication(application, request, call)),
    respond: ({ after }) => ({ details: details(after) }),
  })
}
