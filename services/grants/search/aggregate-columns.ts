import type { Fragment, Sql } from '#lib/eventstore/database'

/** The columns of an aggregate `a`, under their names in the code. */
export function aggregateColumns(sql: Sql, state = sql`a.state`): Fragment {
  return sql`
    a.type, a.id, a.organization_id as "organizationId", a.sequence::int as sequence, a.created_at as "createdAt",
    a.changed_at as "changedAt", ${state} as state
  `
}
