import type {
  GenerateClientSecretRequest,
  GenerateClientSecretResponse,
} from '#gen/roster/grants/v1/application_service'
import { newToken } from '#lib/credentials/token-text'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { refuseWithoutSecret, storeClientSecret } from '../../applications/client-secrets.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export async function generateClientSecret(
  { store }: Context,
  request: GenerateClientSecretRequest,
  call: Call,
): Promise<GenerateClientSecretResponse> {
  const [clientSecret, secretId] = [newToken(), uuid()]
  return store.execute({
    aggregate: { type: 'application', id: request.appId },
    call,
    decide(application: Aggregate<Application>): Decision<ApplicationEvent> {
      const { id, state } = changeableApplication(application, request, call)
      refuseWithoutSecret(state)
      return {
        events: [{ type: 'secret.changed', payload: { secretId } }],
        writes: [storeClientSecret(clientSecret, secretId, id)],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ clientSecret, details: details(after) }),
  })
}
