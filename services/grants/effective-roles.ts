import type { Existing } from '#lib/eventstore/aggregate'
import { type Fragment, orUnavailable, type Sql } from '#lib/database/database'
import type { Context } from './context.ts'
import type { Organization } from './vocabulary/organization.ts'
import type { Project } from './vocabulary/project.ts'

// Which roles a user has now. This file alone decides it, for tokens and for everybody who asks.
//
// A role counts while the project has it, and the project and its owner are active. The user grant has to be active,
// and the organization that gave it. Under a project grant, that has to be active, and to have the role.

/** The roles that a user grant of the project can give; undefined where none counts. */
export async function countingRoles(
  { store }: Context,
  project: Existing<Project>,
): Promise<ReadonlySet<string> | undefined> {
  const owner = await store.load<Organization>('organization', project.organizationId)
  const counts = !project.state.inactive && owner && !owner.state.inactive && !owner.state.removed
  return counts ? new Set(Object.keys(project.state.roles)) : undefined
}

/**
 * The condition that a user grant `u` counts, and under a project grant that this has the role, if one is named.
 * `offset 0` makes it a check of each row, in the order of the page: as joins, both would be over all rows.
 */
export function counting(sql: Sql, roleKey?: Fragment): Fragment {
  return sql`
    not u.inactive
    and (u.project_grant_id = '' or exists (
      select from project_grants g
      where g.grant_id = u.project_grant_id and not g.inactive
        ${roleKey ? sql`and ${roleKey} = any(g.role_keys)` : sql``}
      offset 0
    ))
    and exists (
      select from aggregates o
      where o.type = 'organization' and o.id = u.organization_id and not o.state ?| array['inactive', 'removed']
      offset 0
    )
  `
}

/** The roles that one user grant gives now. */
export interface GivenRoles {
  grantId: string
  organizationId: string
  roleKeys: string[]
}

const mostGrants = 1000
/** Of all role keys together. They must fit one NATS message, and the project's owner chooses how long they are. */
const mostBytes = 524_288

/**
 * The roles of a user in a project by the grants that count, of one organization or of all of them. A grant may have
 * no role that counts. Those of the project's owner come first: what other organizations give never replaces them.
 */
export async function effectiveRoles(
  context: Context,
  project: Existing<Project>,
  userId: string,
  organizationId?: string,
): Promise<GivenRoles[]> {
  const { sql } = context
  const roles = await countingRoles(context, project)
  if (!roles) return []
  const rows = await orUnavailable(sql<(GivenRoles & { granted: string[] | null })[]>`
    with first as (
      select u.grant_id, u.organization_id, u.project_grant_id, a.state -> 'roleKeys' as role_keys,
        row_number() over (order by u.organization_id <> ${project.organizationId}, u.organization_id, u.grant_id) as n
      from user_grants u
      join aggregates a on a.type = 'user_grant' and a.id = u.grant_id
      where u.project_id = ${project.id} and u.user_id = ${userId} and ${counting(sql)}
        ${organizationId === undefined ? sql`` : sql`and u.organization_id = ${organizationId}`}
      order by n
      limit ${mostGrants}
    ), sized as (
      select *, sum(octet_length(role_keys::text)) over (order by n) as bytes from first
    )
    select grant_id as "grantId", organization_id as "organizationId", role_keys as "roleKeys",
      (select g.role_keys from project_grants g where g.grant_id = s.project_grant_id) as granted
    from sized s
    where bytes <= ${mostBytes}
    order by n
  `)
  return rows.map(({ grantId, organizationId: giver, roleKeys, granted }) => ({
    grantId,
    organizationId: giver,
    roleKeys: roleKeys.filter((key) => roles.has(key) && (granted === null || granted.includes(key))),
  }))
}
