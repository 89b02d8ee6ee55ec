import type {
  RemovePersonalAccessTokenRequest,
  RemovePersonalAccessTokenResponse,
} from '#gen/roster/users/v1/credential_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { removal } from '../../machine-credentials/machine-credentials.ts'
import { permitCredential } from '../../machine-credentials/new-credential.ts'

export const removePersonalAccessToken = {
  permit: permitCredential,

  async handle(
    { store }: Context,
    { userId, tokenId }: RemovePersonalAccessTokenRequest,
    call: Call,
  ): Promise<RemovePersonalAccessTokenResponse> {
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: removal('pat', tokenId, { type: 'pat.removed', payload: { tokenId } }),
      respond: ({ after }) => ({ details: details(after) }),
    })
  },
}
