import type { Fragment, Sql } from '../database/database.ts'

/** The columns of an aggregate `a`, under their names in the code. */
export function aggregateColumns(sql: Sql, state = sql`a.state`): Fragment {
  return sql`
    a.type, a.id, a.organization_id as "organizationId", a.sequence::int as sequence, a.created_at as "createdAt",
    a.changed_at as "changedAt", ${state} as state
  `
}

/**
 * Joins the aggregate `a` that each row has the id of. The tables before it come first, because they have the order of
 * the page: an aggregate that came first would be read for every earlier page too.
 */
export function joinAggregate(sql: Sql, type: string, id: Fragment): Fragment {
  return sql`cross join lateral (select * from aggregates where type = ${type} and id = ${id} offset 0) a`
}
