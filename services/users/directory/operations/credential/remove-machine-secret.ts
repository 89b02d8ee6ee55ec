import type { RemoveMachineSecretRequest, RemoveMachineSecretResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { removal } from '../../machine-credentials/machine-credentials.ts'
import { permitCredential } from '../../machine-credentials/new-credential.ts'

export const removeMachineSecret = {
  permit: permitCredential,

  async handle(
    { store }: Context,
    { userId, secretId }: RemoveMachineSecretRequest,
    call: Call,
  ): Promise<RemoveMachineSecretResponse> {
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: removal('secret', secretId, { type: 'secret.removed', payload: { secretId } }),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
