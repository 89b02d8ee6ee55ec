import type { GetMachineKeyRequest, GetMachineKeyResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { loadCredential } from '../../machine-credentials/machine-credentials.ts'
import { showKey } from './list-machine-keys.ts'

export async function getMachineKey(
  { store }: Context,
  { userId, keyId }: GetMachineKeyRequest,
): Promise<GetMachineKeyResponse> {
  const { user, credential } = await loadCredential(store, userId, 'key', keyId)
  return { details: details(user), key: showKey(credential) }
}
