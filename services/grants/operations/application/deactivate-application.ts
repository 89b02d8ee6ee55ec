import type {
  DeactivateApplicationRequest,
  DeactivateApplicationResponse,
} from '#gen/roster/grants/v1/application_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function deactivateApplication(
  { store }: Context,
  request: DeactivateApplicationRequest,
  call: Call,
): Promise<DeactivateApplicationResponse> {
  return store.execute({
    aggregate: { type: 'application', id: request.appId },
    call,
    decide(application: Aggregate<Application>): Decision<ApplicationEvent> {
      if (ownApplication(application, request, call).state.inactive)
        throw new RosterError(
          'FAILED_PRECONDITION',
          'APPLICATION_ALREADY_INACTIVE',
          'The application is inactive already.',
        )
      return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
