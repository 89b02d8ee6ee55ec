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
import { type Used, withUses } from '../../machine-credentials/credential-uses.ts'
import { datesOf, loadCredentials } from '../../machine-credentials/machine-credentials.ts'

export async function listMachineKeys(
  context: Context,
  { userId }: ListMachineKeysRequest,
): Promise<ListMachineKeysResponse> {
  const { user, credentials } = await loadCredentials(context.store, userId, 'key')
  return { details: details(user), keys: (await withUses(context, credentials)).map(showKey) }
}

export function showKey(key: MachineKey & Used): ShownKey {
  return {
    keyId: key.id,
    type: KeyType.KEY_TYPE_JSON,
    algorithm: fromJoseName(key.algorithm),
    publicKey: JSON.stringify(key.publicKey),
    ...datesOf(key),
  }
}
