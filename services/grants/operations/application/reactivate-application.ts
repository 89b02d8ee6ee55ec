import type {
  ReactivateApplicationRequest,
  ReactivateApplicationResponse,
} from '#gen/roster/grants/v1/application_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function reactivateApplication(
  { store }: Context,
  request: ReactivateApplicationRequest,
  call: Call,
): Promise<ReactivateApplicationResponse> {
  return store.execute({
    aggregate: { type: 'application', id: request.appId },
    call,
    decide(application: Aggregate<Application>): Decision<ApplicationEvent> {
      if (!changeableApplication(application, request, call).state.inactive)
        throw new RosterError('FAILED_PRECONDITION', 'APPLICATION_NOT_INACTIVE', 'The application is not inactive.')
      return { events: [{ type: 'reactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
