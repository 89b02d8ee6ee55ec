import type { RemoveMachineKeyRequest, RemoveMachineKeyResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { removal } from '../../machine-credentials/machine-credentials.ts'
import { permitCredential } from '../../machine-credentials/new-credential.ts'

export const removeMachineKey = {
  permit: permitCredential,

  async handle(
    { store }: Context,
    { userId, keyId }: RemoveMachineKeyRequest,
    call: Call,
  ): Promise<RemoveMachineKeyResponse> {
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: removal('key', keyId, { type: 'key.removed', payload: { keyId } }),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
