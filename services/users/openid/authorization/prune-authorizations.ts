import type { Sql } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { pruneStates } from '../../sessions/sessions.ts'
import { authorizationType } from '../events/authorization.ts'

const day = 86_400_000

/**
 * Deletes what is over by time alone: authorizations whose refresh tokens, or whose sessions, are over; a day later
 * grants whose code was not used, and after thirty days whatever else has ended. Events stay.
 */
export async function pruneAuthorizations(sql: Sql): Promise<void> {
  // A use of a refresh token leaves the row as it is.
  await sql`
    update authorizations a set expires_at = (g.state -> 'refreshTokens' ->> 'expiresAt')::timestamptz
    from aggregates g
    where a.expires_at < roster_now() and g.type = ${authorizationType} and g.id = a.authorization_id
      and (g.state -> 'refreshTokens' ->> 'expiresAt')::timestamptz > roster_now()
  `
  await deleteInPortions(
    sql,
    'authorizations',
    sql`
      expires_at < roster_now() or (
        session_bound
        and not exists (select from tokens t where t.session_id <> '' and t.session_id = authorizations.session_id)
        and not exists (select from surplus_sessions s where s.session_id = authorizations.session_id)
      )
    `,
  )
  await pruneStates(sql, authorizationType, day, () => sql`not state ? 'redeemed'`)
  await pruneStates(
    sql,
    authorizationType,
    30 * day,
    () => sql`not exists (select from authorizations o where o.authorization_id = aggregates.id)`,
  )
  await deleteInPortions(
    sql,
    'session_applications',
    sql`not exists (select from aggregates a where a.type = 'session' and a.id = session_applications.session_id)`,
  )
}
