import type { AddClientSecretRequest, AddClientSecretResponse } from '#gen/roster/grants/v1/application_service'
import { newToken } from '#lib/credentials/token-text'
import { limitReached } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { checkExpiry, expiryOf } from '../../applications/credential-expiry.ts'
import { refuseWithoutSecret, storeClientSecret } from '../../applications/client-secrets.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import { type Application, type ApplicationEvent, livingSecrets } from '../../vocabulary/application.ts'

const mostSecrets = 2

export const addClientSecret = {
  check: checkExpiry,

  async handle({ store }: Context, request: AddClientSecretRequest, call: Call): Promise<AddClientSecretResponse> {
    const [clientSecret, secretId] = [newToken(), uuid()]
    return store.execute({
      aggregate: { type: 'application', id: request.appId },
      call,
      decide(application: Aggregate<Application>, now): Decision<ApplicationEvent> {
        const { id, state } = changeableApplication(application, request, call)
        refuseWithoutSecret(state)
        if (livingSecrets(state, now).length >= mostSecrets)
          throw limitReached('application.secrets', mostSecrets, `An application has at most ${mostSecrets} secrets.`)
        return {
          events: [{ type: 'secret.added', payload: { secretId, ...expiryOf(request) } }],
          writes: [storeClientSecret(clientSecret, secretId, id)],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({ secretId, clientSecret, details: details(after) }),
    })
  },
}
