import type { AuthenticateRequest, AuthenticateResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../context.ts'
import type { TokenRow } from '../token.ts'
import { isActive } from '../user-state.ts'
import type { User } from '../vocabulary.ts'

export async function authenticate(
  { sql }: Context,
  { tokenHash }: AuthenticateRequest,
): Promise<AuthenticateResponse> {
  const [token] = await orUnavailable(sql<(TokenRow & { user: User })[]>`
    select user_id as "userId", t.organization_id as "organizationId", human, session_id as "sessionId", expires_at as "expiresAt",
      u.state as "user"
    from tokens t join aggregates u on u.type = 'user' and u.id = t.user_id
    where hash = ${tokenHash} and (expires_at is null or expires_at > now())
  `)
  if (!token || !isActive(token.user))
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The bearer token is not valid.')
  const { expiresAt, user: _, ...rest } = token
  return { ...rest, expirationDate: expiresAt ?? undefined }
}
