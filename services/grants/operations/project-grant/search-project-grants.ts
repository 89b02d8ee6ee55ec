import {
  ProjectGrantState,
  type SearchProjectGrantsRequest,
  type SearchProjectGrantsResponse,
} from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { searchGrantsOfProjects } from '../../search/search-grants-of-projects.ts'

export async function searchProjectGrants(
  context: Context,
  request: SearchProjectGrantsRequest,
  call: Call,
): Promise<SearchProjectGrantsResponse> {
  const { sql } = context
  const { projectId, grantedOrgId, roleKey, state } = request
  const { rows, ...page } = await searchGrantsOfProjects(
    context,
    { method: 'SearchProjectGrants', request, call },
    sql`
      g.organization_id = ${call.organizationId}
      ${projectId ? sql`and g.project_id = ${projectId}` : sql``}
      ${grantedOrgId ? sql`and g.granted_organization_id = ${grantedOrgId}` : sql``}
      ${roleKey ? sql`and ${roleKey} = any(g.role_keys)` : sql``}
      ${state ? sql`and g.inactive = ${state === ProjectGrantState.PROJECT_GRANT_STATE_INACTIVE}` : sql``}
    `,
  )
  return { ...page, projectGrants: rows }
}
