import type {
  GetPersonalAccessTokenRequest,
  GetPersonalAccessTokenResponse,
} from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Context } from '../../../context.ts'
import { datesOf, loadCredential } from '../../machine-credentials/machine-credentials.ts'

export async function getPersonalAccessToken(
  { store }: Context,
  { userId, tokenId }: GetPersonalAccessTokenRequest,
): Promise<GetPersonalAccessTokenResponse> {
  const { user, credential } = await loadCredential(store, userId, 'pat', tokenId)
  return { details: details(user), token: { tokenId, ...datesOf(credential) } }
}
