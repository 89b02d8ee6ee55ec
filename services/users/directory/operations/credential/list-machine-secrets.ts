import type { ListMachineSecretsRequest, ListMachineSecretsResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { datesOf, loadCredentials } from '../../machine-credentials/machine-credentials.ts'

export async function listMachineSecrets(
  { store }: Context,
  { userId }: ListMachineSecretsRequest,
): Promise<ListMachineSecretsResponse> {
  const { user, credentials } = await loadCredentials(store, userId, 'secret')
  return {
    details: details(user),
    secrets: credentials.map((credential) => ({ secretId: credential.id, ...datesOf(credential) })),
  }
}
