import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Insert, Transaction, Write } from '#lib/database/database'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'

/** Keeps the table of searches in step with a project grant. */
export function projectProjectGrant({ id, organizationId, state }: Aggregate<ProjectGrant>): Write[] {
  if (!state) return []
  const { projectId, grantedOrganizationId, roleKeys, inactive = false, removed = false } = state
  const row: ProjectGrantRow = {
    grant_id: id,
    project_id: projectId,
    organization_id: organizationId,
    granted_organization_id: grantedOrganizationId,
    inactive,
    role_keys: roleKeys,
    removed,
  }
  return [{ row, into }]
}

interface ProjectGrantRow {
  grant_id: string
  project_id: string
  organization_id: string
  granted_organization_id: string
  inactive: boolean
  role_keys: string[]
  removed: boolean
}

// A transaction may change a grant more than once. One statement changes a row only once.
const into: Insert<ProjectGrantRow>['into'] = (sql: Transaction, rows) => {
  const last = JSON.stringify([...new Map(rows.map((row) => [row.grant_id, row])).values()])
  return sql`
    with given as (
      select * from jsonb_to_recordset(${last}::text::jsonb) as r (
        grant_id text, project_id text, organization_id text, granted_organization_id text, inactive boolean,
        role_keys text[], removed boolean
      )
    ), gone as (
      delete from project_grants g using given where given.removed and g.grant_id = given.grant_id
    )
    insert into project_grants
    select grant_id, project_id, organization_id, granted_organization_id, inactive, role_keys
    from given where not removed
    on conflict (grant_id) do update set inactive = excluded.inactive, role_keys = excluded.role_keys
  `
}
