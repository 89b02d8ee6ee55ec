import type { GetSigningKeysRequest, GetSigningKeysResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../oauth/issuer.ts'

export async function getSigningKeys(
  { config, signingKeys }: Context,
  _request: GetSigningKeysRequest,
): Promise<GetSigningKeysResponse> {
  return { issuer: issuerOf(config), keys: signingKeys.published() }
}
