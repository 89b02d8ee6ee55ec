import type { GetSigningKeysRequest, GetSigningKeysResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import { issuerOf } from '../directory/issuer.ts'

/** Those of access tokens alone: a gateway takes what is signed by them for one. */
export async function getSigningKeys(
  { config, signingKeys }: Context,
  _request: GetSigningKeysRequest,
): Promise<GetSigningKeysResponse> {
  return { issuer: issuerOf(config), keys: signingKeys.published() }
}
