import type { ListSigningKeysRequest, ListSigningKeysResponse } from '#gen/roster/users/v1/oauth_service'
import type { Context } from '../../context.ts'

export async function listSigningKeys(
  { signingKeys, idTokenKeys }: Context,
  _request: ListSigningKeysRequest,
): Promise<ListSigningKeysResponse> {
  return { keys: [...signingKeys.published(), ...idTokenKeys.published()] }
}
