import type {
  RemoveApplicationKeyRequest,
  RemoveApplicationKeyResponse,
} from '#gen/roster/grants/v1/application_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import { type Application, type ApplicationEvent, livingKeys } from '../../vocabulary/application.ts'

export async function removeApplicationKey(
  { store }: Context,
  request: RemoveApplicationKeyRequest,
  call: Call,
): Promise<RemoveApplicationKeyResponse> {
  const { appId, keyId } = request
  return store.execute({
    aggregate: { type: 'application', id: appId },
    call,
    decide(application: Aggregate<Application>, now): Decision<ApplicationEvent> {
      const { state } = ownApplication(application, request, call)
      if (!livingKeys(state, now).some((key) => key.keyId === keyId))
        throw new RosterError('NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'The application has no such key.')
      return { events: [{ type: 'key.removed', payload: { keyId } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
