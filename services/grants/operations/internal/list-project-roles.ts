import type {
  ListProjectRolesRequest,
  ListProjectRolesResponse,
  ProjectRoles,
} from '#gen/roster/grants/v1/internal_service'
import { RosterError } from '#lib/errors'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../../context.ts'

export async function listProjectRoles(
  { sql, store }: Context,
  { userId, projectId }: ListProjectRolesRequest,
): Promise<ListProjectRolesResponse> {
  const [project, rows] = await Promise.all([
    store.load('project', projectId),
    // The conditions are those of the index, so that PostgreSQL uses it.
    orUnavailable(sql<ProjectRoles[]>`
      select organization_id as "organizationId", state -> 'roleKeys' as "roleKeys" from aggregates
      where type in ('member', 'user_grant') and not state ? 'removed' and state ->> 'userId' = ${userId}
        and type = 'user_grant' and state ->> 'projectId' = ${projectId}
      order by organization_id, id
    `),
  ])
  if (!project) throw new RosterError('NOT_FOUND', 'PROJECT_NOT_FOUND', 'There is no such project.')
  return { organizationId: project.organizationId, grants: rows }
}
