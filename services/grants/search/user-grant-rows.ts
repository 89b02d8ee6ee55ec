import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Insert, Transaction, Write } from '#lib/database/database'
import type { UserGrant } from '../vocabulary/user-grant.ts'

/** Keeps the tables of searches in step with a user grant: a row for the grant, and one for each of its roles. */
export function projectUserGrant(before: Aggregate<UserGrant>, after: Aggregate<UserGrant>): Write[] {
  if (!after.state) return []
  const { userId, projectId, projectGrantId, roleKeys, inactive = false, removed = false, idpId = '' } = after.state
  const row: UserGrantRow = {
    grant_id: after.id,
    organization_id: after.organizationId,
    user_id: userId,
    project_id: projectId,
    project_grant_id: projectGrantId,
    idp_id: idpId,
    inactive,
    removed,
    role_keys: removed ? [] : roleKeys,
    former_keys: before.state?.roleKeys ?? [],
  }
  return [{ row, into }]
}

interface UserGrantRow {
  grant_id: string
  organization_id: string
  user_id: string
  project_id: string
  project_grant_id: string
  idp_id: string
  inactive: boolean
  removed: boolean
  role_keys: string[]
  former_keys: string[]
}

const into: Insert<UserGrantRow>['into'] = (sql: Transaction, rows) => {
  const given = JSON.stringify(lastOfEach(rows))
  return sql`
    with given as (
      select * from jsonb_to_recordset(${given}::text::jsonb) as r (
        grant_id text, organization_id text, user_id text, project_id text, project_grant_id text,
        idp_id text, inactive boolean, removed boolean, role_keys text[], former_keys text[]
      )
    ), gone as (
      delete from user_grants g using given where given.removed and g.grant_id = given.grant_id
    ), kept as (
      insert into user_grants (grant_id, organization_id, user_id, project_id, project_grant_id, inactive, idp_id)
      select grant_id, organization_id, user_id, project_id, project_grant_id, inactive, idp_id from given where not removed
      on conflict (grant_id) do update set inactive = excluded.inactive
      where user_grants.inactive <> excluded.inactive
    ), lost as (
      delete from user_grant_roles r using given, unnest(given.former_keys) lost_key
      where r.project_id = given.project_id and r.role_key = lost_key
        and r.organization_id = given.organization_id and r.grant_id = given.grant_id
    )
    insert into user_grant_roles
    select project_id, role_key, organization_id, grant_id from given, unnest(role_keys) role_key
    on conflict do nothing
  `
}

// A transaction may change a grant more than once. One statement changes a row only once.
function lastOfEach(rows: UserGrantRow[]): UserGrantRow[] {
  const last = new Map<string, UserGrantRow>()
  for (const row of rows) {
    const former = [...(last.get(row.grant_id)?.former_keys ?? []), ...row.former_keys]
    last.set(row.grant_id, { ...row, former_keys: former.filter((key) => !row.role_keys.includes(key)) })
  }
  return [...last.values()]
}
