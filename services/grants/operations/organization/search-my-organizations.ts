import {
  type MyOrganization,
  OrganizationState,
  type SearchMyOrganizationsRequest,
  type SearchMyOrganizationsResponse,
} from '#gen/roster/grants/v1/organization_service'
import type { Fragment } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'

export async function searchMyOrganizations(
  { sql, config }: Context,
  request: SearchMyOrganizationsRequest,
  call: Call,
): Promise<SearchMyOrganizationsResponse> {
  const { name } = request
  const nameColumn = { exact: sql`o.name`, canonical: sql`o.canonical_name` }
  // Of all projects together, because one may have a role in a thousand of them.
  const rolesWhere = (place: Fragment) => sql`array(
    select distinct role from memberships m, unnest(m.roles) role where m.user_id = ${call.caller.userId}
    and m.organization_id = o.organization_id and ${place} order by role
  )`
  const page = await search<Row>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchMyOrganizations',
      request,
      call,
      columns: sql`
        o.organization_id, o.name, o.primary_domain, o.inactive,
        ${rolesWhere(sql`m.project_id = ''`)} as roles, ${rolesWhere(sql`m.project_id <> ''`)} as project_roles
      `,
      from: sql`(select distinct m.organization_id from memberships m where m.user_id = ${call.caller.userId}) held join organizations o using (organization_id)`,
      where: name ? textCondition(sql, nameColumn, name.text, name.method) : sql`true`,
      order: {
        by: [
          { column: sql`o.canonical_name`, type: 'text' },
          { column: sql`o.organization_id`, type: 'text' },
        ],
      },
    },
  )
  return { organizations: page.rows.map(show), nextCursor: page.nextCursor, total: page.total }
}

interface Row {
  organization_id: string
  name: string
  primary_domain: string
  inactive: boolean
  roles: string[]
  project_roles: string[]
}

function show({ organization_id, name, primary_domain, inactive, roles, project_roles }: Row): MyOrganization {
  const { ORGANIZATION_STATE_INACTIVE, ORGANIZATION_STATE_ACTIVE } = OrganizationState
  return {
    organizationId: organization_id,
    name,
    primaryDomain: primary_domain,
    state: inactive ? ORGANIZATION_STATE_INACTIVE : ORGANIZATION_STATE_ACTIVE,
    roles,
    projectRoles: project_roles,
  }
}
