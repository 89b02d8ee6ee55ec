import type { AuthenticateRequest, AuthenticateResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { readScope } from '../../oauth/scope.ts'
import { findToken } from '../../token.ts'

export async function authenticate(
  context: Context,
  { tokenHash }: AuthenticateRequest,
): Promise<AuthenticateResponse> {
  const token = await findToken(context, tokenHash)
  if (!token) throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The bearer token is not valid.')
  const { userId, organizationId, human, sessionId, expiresAt, access, scope = access?.scope } = token
  return {
    userId,
    organizationId,
    human,
    sessionId,
    expirationDate: expiresAt ?? undefined,
    scope,
    forProject: access !== undefined && readScope(access.scope).projectId !== undefined,
    dpopThumbprint: access?.dpopThumbprint ?? undefined,
  }
}
