import type { RevokeTokenRequest, RevokeTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { AuthenticationEvent } from '../../vocabulary/authentication.ts'
import { authenticateClient, checkClient } from '../../oauth/client.ts'
import type { Context } from '../../context.ts'
import { useUp } from '../../oauth/single-use.ts'
import { findToken, hashToken } from '../../token.ts'

export const revokeToken = {
  check: (_context: Context, request: RevokeTokenRequest) => checkClient(request),
  async handle(context: Context, request: RevokeTokenRequest, call: Call): Promise<RevokeTokenResponse> {
    const client = await authenticateClient(context, request, call)
    const hash = hashToken(request.token)
    const token = await findToken(context, hash)
    const { id: userId, organizationId } = client.machine
    // This does not revoke a personal access token, which is removed as a credential.
    const found = token?.userId === userId ? token.access : undefined
    const { requestId, deadline, once } = call
    const claims = client.once ? [client.once] : []
    // Without an event no key is claimed, so the assertion is used up here. An answer kept before that would be given
    // to a caller that is refused here.
    if (!found && client.once && !(await useUp(context.sql, client.once))) return client.fail('replayed')
    try {
      return await context.store.execute<object, AuthenticationEvent, void, RevokeTokenResponse>({
        aggregate: { type: 'authentication', id: userId },
        call: { caller: { ...anonymous, userId }, requestId, deadline, ...(once && { once }) },
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
