import type { RemoveMachineSecretsRequest, RemoveMachineSecretsResponse } from '#gen/roster/users/v1/credential_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { User, UserEvent } from '../../events/user.ts'
import { credentialNotFound, removedSecrets } from '../../machine-credentials/machine-credentials.ts'
import { permitCredential } from '../../machine-credentials/new-credential.ts'

export const removeMachineSecrets = {
  permit: permitCredential,

  async handle(
    { store }: Context,
    { userId }: RemoveMachineSecretsRequest,
    call: Call,
  ): Promise<RemoveMachineSecretsResponse> {
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide({ state }: Aggregate<User>, now): Decision<UserEvent> {
        const events = removedSecrets(state, now)
        if (events.length === 0) throw credentialNotFound()
        return { events, answer: undefined }
      },
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
