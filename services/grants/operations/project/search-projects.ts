import {
  ProjectFieldName,
  ProjectState,
  type SearchProjectsRequest,
  type SearchProjectsResponse,
} from '#gen/roster/grants/v1/project_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { type Order, search } from '#lib/search/search'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { aggregateColumns, joinAggregate } from '#lib/search/joined-aggregate'
import { projectName } from '../../search/project-name.ts'
import { showProject } from '../../show.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function searchProjects(
  { sql, config }: Context,
  request: SearchProjectsRequest,
  call: Call,
): Promise<SearchProjectsResponse> {
  const { name, state, sortingColumn, descending } = request
  const byCreation = sortingColumn === ProjectFieldName.PROJECT_FIELD_NAME_CREATION_DATE
  const first: Order['by'][number] = byCreation
    ? { column: sql`p.created_at`, type: 'timestamptz' }
    : { column: sql`p.canonical_name`, type: 'text' }
  const page = await search<Existing<Omit<Project, 'roles'>>>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchProjects',
      request,
      call,
      // A project may have thousands of roles.
      columns: aggregateColumns(sql, sql`a.state - 'roles'`),
      from: sql`projects p`,
      shown: joinAggregate(sql, 'project', sql`p.project_id`),
      where: sql`
        p.organization_id = ${call.organizationId}
        ${name ? sql`and ${textCondition(sql, projectName(sql), name.text, name.method)}` : sql``}
        ${state ? sql`and p.inactive = ${state === ProjectState.PROJECT_STATE_INACTIVE}` : sql``}
      `,
      order: { by: [first, { column: sql`p.project_id`, type: 'text' }], descending },
    },
  )
  return { projects: page.rows.map(showProject), nextCursor: page.nextCursor, total: page.total }
}
