import type { GetMachineKeyRequest, GetMachineKeyResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { withUses } from '../../machine-credentials/credential-uses.ts'
import { loadCredential } from '../../machine-credentials/machine-credentials.ts'
import { showKey } from './list-machine-keys.ts'

export async function getMachineKey(
  context: Context,
  { userId, keyId }: GetMachineKeyRequest,
): Promise<GetMachineKeyResponse> {
  const { user, credential } = await loadCredential(context.store, userId, 'key', keyId)
  const [used] = await withUses(context, [credential])
  return { details: details(user), key: showKey(used!) }
}
