import type {
  ListProjectRolesRequest,
  ListProjectRolesResponse,
  ProjectRoles,
} from '#gen/roster/grants/v1/internal_service'
import { RosterError } from '#lib/errors'
import { orUnavailable } from '#lib/eventstore/database'
import type { Context } from '../context.ts'

export async function listProjectRoles(
  { sql, store }: Context,
  { userId, projectId }: ListProjectRolesRequest,
): Promise<ListProjectRolesResponse> {
  const [project, rows] = await Promise.all([
    store.load('project', projectId),
    orUnavailable(sql<ProjectRoles[]>`
      select organization_id as "organizationId", role_keys as "roleKeys" from project_roles
      where user_id = ${userId} and project_id = ${projectId}
      order by organization_id
    `),
  ])
  if (!project) throw new RosterError('NOT_FOUND', 'PROJECT_NOT_FOUND', 'There is no such project.')
  return { organizationId: project.organizationId, grants: rows }
}
