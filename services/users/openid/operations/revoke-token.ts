import type { RevokeTokenRequest, RevokeTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Origin } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { AuthenticationEvent } from '../events/authentication.ts'
import { revokeAccessToken } from '../authorization/revoke-access-token.ts'
import { revokeRefreshToken } from '../refresh/revoke-refresh-token.ts'
import { readRefreshToken } from '../tokens/refresh-token.ts'
import { authenticateClient, checkClient } from '../clients/client.ts'
import type { Context } from '../../context.ts'
import { useUp } from '../../directory/secrets/single-use.ts'
import { type FoundToken, findToken, hashToken } from '../../directory/tokens/token.ts'
import { living } from '../../directory/events/credentials.ts'
import { credentialsOf, type User, type UserEvent } from '../../directory/events/user.ts'

export const revokeToken = {
  check: (_context: Context, request: RevokeTokenRequest) => checkClient(request),
  async handle(context: Context, request: RevokeTokenRequest, call: Call): Promise<RevokeTokenResponse> {
    const client = await authenticateClient(context, request, call)
    if (!('machine' in client)) {
      if (!readRefreshToken(context.keys, request.token)) return revokeAccessToken(context, client, request.token, call)
      if (client.once && !(await useUp(context.sql, client.once))) return client.fail('replayed')
      await revokeRefreshToken(context, client, request.token, call)
      return {}
    }
    const hash = hashToken(request.token)
    const token = await findToken(context, hash)
    const { id: userId, organizationId } = client.machine
    const own = token?.userId === userId ? token : undefined
    const found = own?.access
    const { requestId, deadline, once } = call
    const origin = { caller: { ...anonymous, userId }, requestId, deadline, ...(once && { once }) }
    const claims = client.once ? [client.once] : []
    // Where there may be no event, no key is claimed, so the assertion is used up here. An answer kept before that would be given
    // to a caller that is refused here.
    if (!found && client.once && !(await useUp(context.sql, client.once))) return client.fail('replayed')
    if (own && !found) return removePersonalToken(context, own, origin)
    try {
      return await context.store.execute<object, AuthenticationEvent, void, RevokeTokenResponse>({
        aggregate: { type: 'authentication', id: userId },
        call: origin,
        decide: () => ({
          organizationId,
          claims: found ? claims : [],
          events: found ? [{ type: 'token.revoked', payload: { tokenId: found.tokenId } }] : [],
          writes: found ? [(sql) => sql`delete from tokens where hash = ${hash}`] : [],
          answer: undefined,
        }),
        respond: () => ({}),
      })
    } catch (error) {
      if (client.once && error === client.once.taken) return client.fail('replayed')
      throw error
    }
  },
}

function removePersonalToken(
  { store }: Context,
  { userId, credentialId: tokenId = '' }: FoundToken,
  call: Origin,
): Promise<RevokeTokenResponse> {
  return store.execute<User, UserEvent, void, RevokeTokenResponse>({
    aggregate: { type: 'user', id: userId },
    call,
    decide({ state }, now) {
      // It may be gone since it was found.
      const lives = living(credentialsOf(state).pat, now).some(({ id }) => id === tokenId)
      return { events: lives ? [{ type: 'pat.removed', payload: { tokenId } }] : [], answer: undefined }
    },
    respond: () => ({}),
  })
}
