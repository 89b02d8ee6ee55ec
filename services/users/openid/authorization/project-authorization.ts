import type { ByFunction, Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { writeAccess } from '../../directory/tokens/access-rows.ts'
import type { Authorization, EndReason } from '../events/authorization.ts'

/** Keeps the table of living authorizations in step with a change of one. */
export function projectAuthorization(before: Aggregate<Authorization>, after: Aggregate<Authorization>): Write[] {
  const { id, state } = after
  if (state?.ended) return before.state?.ended ? [] : [writeAccess({ ended: { authorization_id: id } })]
  if (!state?.redeemed || before.state?.redeemed) return []
  const { userId, applicationId, sessionId, scope, offline, endsWithSession, refreshTokens } = state
  const authorization = {
    authorization_id: id,
    user_id: userId,
    application_id: applicationId,
    session_id: sessionId,
    offline,
    session_bound: !offline || endsWithSession,
    expires_at: refreshTokens?.expiresAt,
    has_id_token: scope.split(' ').includes('openid'),
  }
  return [writeAccess({ authorization })]
}

/**
 * Takes away the authorizations that end with a session, or all of a user but those of the session that is kept. Their
 * events follow, as those of surplus sessions.
 */
export function withoutAuthorizations(
  of: { session_id: string } | { user_id: string; kept_session_id: string | undefined },
  reason: EndReason,
): ByFunction {
  return writeAccess({ over: { ...of, reason } })
}
