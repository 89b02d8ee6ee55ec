import type { Fragment, Sql, Transaction } from '#lib/database/database'
import { organizationType } from '../events/organization.ts'

/** The condition that this column names an organization that is neither deactivated nor removed. */
export function inOpenOrganization(sql: Sql, column: Fragment): Fragment {
  return sql`
    not exists (
      select from aggregates o where o.type = ${organizationType} and o.id = ${column} and o.state ->> 'state' <> 'active'
    )
  `
}

/**
 * The condition that what a person of the organization began at a time is not over: a deactivation ends all that began
 * before it, and a reactivation brings none of it back. Without a time, only whether the organization is open counts.
 */
export function begunSinceOpen(sql: Sql | Transaction, column: Fragment, began: Fragment): Fragment {
  // A value, and no anti join: that might read all organizations for one.
  return sql`
    not coalesce((
      select o.state ->> 'state' <> 'active' or ${began} <= o.changed_at from aggregates o
      where o.type = ${organizationType} and o.id = ${column}
    ), false)
  `
}

/** The same, of the session that a column names. A token of none has no such time. */
export function sessionSinceOpen(sql: Sql | Transaction, column: Fragment, sessionId: Fragment): Fragment {
  const began = sql`(select created_at from aggregates s where s.type = 'session' and s.id = ${sessionId})`
  return begunSinceOpen(sql, column, began)
}
