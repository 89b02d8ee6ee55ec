import type { SearchGrantedProjectsRequest, SearchGrantedProjectsResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { projectName } from '../../search/project-name.ts'
import { searchGrantsOfProjects } from '../../search/search-grants-of-projects.ts'

export async function searchGrantedProjects(
  context: Context,
  request: SearchGrantedProjectsRequest,
  call: Call,
): Promise<SearchGrantedProjectsResponse> {
  const { sql } = context
  const { name } = request
  const { rows, ...page } = await searchGrantsOfProjects(
    context,
    { method: 'SearchGrantedProjects', request, call },
    sql`
      g.granted_organization_id = ${call.organizationId}
      ${name ? sql`and ${textCondition(sql, projectName(sql), name.text, name.method)}` : sql``}
    `,
  )
  return { ...page, grantedProjects: rows }
}
