import {
  KeyType,
  type ListMachineKeysRequest,
  type ListMachineKeysResponse,
  type MachineKey as ShownKey,
} from '#gen/roster/users/v1/credential_service'
import { fromJoseName } from '#lib/credentials/key-algorithms'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import type { MachineKey } from '../../events/credentials.ts'
import { datesOf, loadCredentials } from '../../machine-credentials/machine-credentials.ts'

export async function listMachineKeys(
  { store }: Context,
  { userId }: ListMachineKeysRequest,
): Promise<ListMachineKeysResponse> {
  const { user, credentials } = await loadCredentials(store, userId, 'key')
  return { details: details(user), keys: credentials.map(showKey) }
}

export function showKey(key: MachineKey): ShownKey {
  return {
    keyId: key.id,
    type: KeyType.KEY_TYPE_JSON,
    algorithm: fromJoseName(key.algorithm),
    publicKey: JSON.stringify(key.publicKey),
    ...datesOf(key),
  }
}
