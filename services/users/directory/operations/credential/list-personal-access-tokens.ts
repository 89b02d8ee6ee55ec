import type {
  ListPersonalAccessTokensRequest,
  ListPersonalAccessTokensResponse,
} from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { withUses } from '../../machine-credentials/credential-uses.ts'
import { datesOf, loadCredentials } from '../../machine-credentials/machine-credentials.ts'

export async function listPersonalAccessTokens(
  context: Context,
  { userId }: ListPersonalAccessTokensRequest,
): Promise<ListPersonalAccessTokensResponse> {
  const { user, credentials } = await loadCredentials(context.store, userId, 'pat')
  return {
    details: details(user),
    tokens: (await withUses(context, credentials)).map((credential) => ({
      tokenId: credential.id,
      ...datesOf(credential),
    })),
  }
}
