import type { RemoveClientSecretRequest, RemoveClientSecretResponse } from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { livingSecret } from '../../applications/client-secrets.ts'
import { ownApplication } from '../../applications/own-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function removeClientSecret(
  { store }: Context,
  request: RemoveClientSecretRequest,
  call: Call,
): Promise<RemoveClientSecretResponse> {
  const { appId, secretId } = request
  return store.execute({
    aggregate: { type: 'application', id: appId },
    call,
    decide(application: Aggregate<Application>, now): Decision<ApplicationEvent> {
      livingSecret(ownApplication(application, request, call).state, secretId, now)
      return { events: [{ type: 'secret.removed', payload: { secretId } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
