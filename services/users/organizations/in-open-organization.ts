import type { Fragment, Sql } from '#lib/database/database'
import { organizationType } from '../vocabulary/organization.ts'

/** The condition that this column names an organization that is neither deactivated nor removed. */
export function inOpenOrganization(sql: Sql, column: Fragment): Fragment {
  return sql`
    not exists (
      select from aggregates o where o.type = ${organizationType} and o.id = ${column} and o.state ->> 'state' <> 'active'
    )
  `
}
