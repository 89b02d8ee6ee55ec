import type {
  SetClientSecretExpirationRequest,
  SetClientSecretExpirationResponse,
} from '#gen/roster/grants/v1/application_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { livingSecret } from '../../applications/client-secrets.ts'
import { checkExpiry, expiryOf } from '../../applications/credential-expiry.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import type { Application, ApplicationEvent } from '../../vocabulary/application.ts'

export const setClientSecretExpiration = {
  check: checkExpiry,

  async handle(
    { store }: Context,
    request: SetClientSecretExpirationRequest,
    call: Call,
  ): Promise<SetClientSecretExpirationResponse> {
    const { appId, secretId } = request
    const expiry = expiryOf(request)
    return store.execute({
      aggregate: { type: 'application', id: appId },
      call,
      decide(application: Aggregate<Application>, now): Decision<ApplicationEvent> {
        const { state } = changeableApplication(application, request, call)
        const { expiresAt } = livingSecret(state, secretId, now)
        if (expiresAt === expiry.expiresAt) return { events: [], answer: undefined }
        return { events: [{ type: 'secret.expiry.changed', payload: { secretId, ...expiry } }], answer: undefined }
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
