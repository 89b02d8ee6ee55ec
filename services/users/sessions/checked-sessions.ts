import type { CheckedSession } from '#gen/roster/users/v1/session_service'
import type { Fragment, Sql } from '#lib/database/database'
import { factorKinds } from './factors/kinds.ts'
import type { Factor } from './events/session.ts'
import type { Existing } from '#lib/eventstore/aggregate'
import { begunSinceOpen } from '../directory/organizations/in-open-organization.ts'
import type { User } from '../directory/events/user.ts'

/** A living session, half-done or whole, and the last check of each kind of factor. */
export interface CheckedRow extends Required<Omit<CheckedSession, 'factors'>> {
  userId: string
  factors: Factor[]
}

/** The columns of a CheckedRow. */
export function checkedColumns(sql: Sql): Fragment {
  return sql`
    s.id, s.user_id as "userId", s.created_at as "creationDate", s.changed_at as "changeDate", s.sequence,
    s.expires_at as "expirationDate", s.factors
  `
}

/** The living sessions that a condition on session, user and organization finds, as the table `s`. */
export function livingSessions(sql: Sql, found: (table: Fragment) => Fragment): Fragment {
  // One of a former release begins with the check of its password.
  const factors = sql`
    coalesce(a.state -> 'factors', jsonb_build_array(jsonb_build_object('kind', 'password', 'at', a.created_at)))
  `
  return sql`
    (
      select t.session_id collate "C" as id, t.user_id, t.expires_at, a.created_at, a.changed_at,
        a.sequence::int as sequence, ${factors} as factors
      from tokens t join aggregates a on a.type = 'session' and a.id = t.session_id
      where t.session_id <> '' and t.expires_at > roster_now() and not (a.state ->> 'ended')::boolean
        and ${begunSinceOpen(sql, sql`t.organization_id`, sql`a.created_at`)} and (${found(sql`t`)})
      union all
      select h.session_id, h.user_id, h.expires_at, h.began_at, h.began_at, 0, '[]'
      from half_done_sessions h where h.expires_at > roster_now()
        and ${begunSinceOpen(sql, sql`h.organization_id`, sql`h.began_at`)} and (${found(sql`h`)})
    ) s
  `
}

/** The session of a user as a message; undefined where that is none of a human. */
export function showChecked(row: CheckedRow, user: Existing<User> | undefined): CheckedSession | undefined {
  if (!user?.state.human) return undefined
  const { id, creationDate, changeDate, sequence, expirationDate, factors: checked } = row
  const { userName, human } = user.state
  const factors = {
    user: {
      verifiedAt: creationDate,
      id: user.id,
      loginName: userName,
      displayName: human.profile.displayName,
      organizationId: user.organizationId,
    },
    ...Object.fromEntries(
      checked.map(({ kind, at, userVerified = false }) => [
        factorKinds[kind].shownAs,
        { verifiedAt: new Date(at), ...(kind === 'passkey' && { userVerified }) },
      ]),
    ),
  }
  return { id, sessionId: id, creationDate, changeDate, sequence, expirationDate, factors }
}
