import type {
  GetPersonalAccessTokenRequest,
  GetPersonalAccessTokenResponse,
} from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { withUses } from '../../machine-credentials/credential-uses.ts'
import { datesOf, loadCredential } from '../../machine-credentials/machine-credentials.ts'

export async function getPersonalAccessToken(
  context: Context,
  { userId, tokenId }: GetPersonalAccessTokenRequest,
): Promise<GetPersonalAccessTokenResponse> {
  const { user, credential } = await loadCredential(context.store, userId, 'pat', tokenId)
  const [used] = await withUses(context, [credential])
  return { details: details(user), token: { tokenId, ...datesOf(used!) } }
}
