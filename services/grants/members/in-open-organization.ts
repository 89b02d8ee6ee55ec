import type { Fragment, Sql } from '#lib/database/database'

/** The condition that the organization of a membership `m` is there: with `withInactive`, even if it is deactivated. */
export function inOpenOrganization(sql: Sql, withInactive = false): Fragment {
  const without = withInactive ? ['removed'] : ['inactive', 'removed']
  return sql`not exists (
    select from aggregates o where o.type = 'organization' and o.id = m.organization_id and o.state ?| ${without}
  )`
}
