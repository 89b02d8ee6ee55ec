import {
  type MyProject,
  ProjectState,
  type SearchMyProjectsRequest,
  type SearchMyProjectsResponse,
} from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { projectName } from '../../search/project-name.ts'

export async function searchMyProjects(
  { sql, config }: Context,
  request: SearchMyProjectsRequest,
  call: Call,
): Promise<SearchMyProjectsResponse> {
  const { name, organizationId } = request
  const page = await search<Row>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchMyProjects',
      request,
      call,
      columns: sql`p.project_id, p.name, p.organization_id, p.inactive, m.roles`,
      from: sql`memberships m join projects p using (project_id)`,
      where: sql`
        m.user_id = ${call.caller.userId} and m.project_id <> ''
        ${organizationId ? sql`and m.organization_id = ${organizationId}` : sql``}
        ${name ? sql`and ${textCondition(sql, projectName(sql), name.text, name.method)}` : sql``}
      `,
      order: {
        by: [
          { column: sql`p.canonical_name`, type: 'text' },
          { column: sql`p.project_id`, type: 'text' },
        ],
      },
    },
  )
  return { projects: page.rows.map(show), nextCursor: page.nextCursor, total: page.total }
}

interface Row {
  project_id: string
  name: string
  organization_id: string
  inactive: boolean
  roles: string[]
}

function show({ project_id, name, organization_id, inactive, roles }: Row): MyProject {
  const { PROJECT_STATE_INACTIVE, PROJECT_STATE_ACTIVE } = ProjectState
  return {
    projectId: project_id,
    name,
    organizationId: organization_id,
    state: inactive ? PROJECT_STATE_INACTIVE : PROJECT_STATE_ACTIVE,
    roles: roles.toSorted(),
  }
}
