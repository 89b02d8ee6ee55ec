import type { RevokeTokenRequest, RevokeTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { AuthenticationEvent } from '../authentication.ts'
import { authenticateOnce, checkClient } from '../client-authentication.ts'
import type { Context } from '../context.ts'
import { findToken, hashToken } from '../token.ts'

export const revokeToken = {
  check: (_context: Context, request: RevokeTokenRequest) => checkClient(request),
  async handle(context: Context, request: RevokeTokenRequest, call: Call): Promise<RevokeTokenResponse> {
    const client = await authenticateOnce(context, request, call)
    const hash = hashToken(request.token)
    const token = await findToken(context.sql, hash)
    const userId = client.machine.id
    // A personal access token is removed as a credential, not here.
    if (token?.userId !== userId || !token.access) return {}
    const { tokenId } = token.access
    const { requestId, deadline, once } = call
    return context.store.execute<object, AuthenticationEvent, void, RevokeTokenResponse>({
      aggregate: { type: 'authentication', id: userId },
      call: { caller: { ...anonymous, userId }, requestId, deadline, ...(once && { once }) },
      decide: () => ({
        organizationId: token.organizationId,
        events: [{ type: 'token.revoked', payload: { tokenId } }],
        writes: [(sql) => sql`delete from tokens where hash = ${hash}`],
        answer: undefined,
      }),
      respond: () => ({}),
    })
  },
}
