import type { ListMachineSecretsRequest, ListMachineSecretsResponse } from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { withUses } from '../../machine-credentials/credential-uses.ts'
import { datesOf, loadCredentials } from '../../machine-credentials/machine-credentials.ts'

export async function listMachineSecrets(
  context: Context,
  { userId }: ListMachineSecretsRequest,
): Promise<ListMachineSecretsResponse> {
  const { user, credentials } = await loadCredentials(context.store, userId, 'secret')
  return {
    details: details(user),
    secrets: (await withUses(context, credentials)).map((credential) => ({
      secretId: credential.id,
      ...datesOf(credential),
    })),
  }
}
