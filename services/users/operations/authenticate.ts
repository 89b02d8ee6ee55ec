import type { AuthenticateRequest, AuthenticateResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../context.ts'
import type { TokenRow } from '../token.ts'

export async function authenticate(
  { sql }: Context,
  { tokenHash }: AuthenticateRequest,
): Promise<AuthenticateResponse> {
  const [token] = await orUnavailable(sql<TokenRow[]>`
    select user_id as "userId", organization_id as "organizationId", human, session_id as "sessionId", expires_at as "expiresAt"
    from tokens
    where hash = ${tokenHash} and (expires_at is null or expires_at > now())
  `)
  if (!token) throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The bearer token is not valid.')
  const { expiresAt, ...rest } = token
  return { ...rest, expirationDate: expiresAt ?? undefined }
}
