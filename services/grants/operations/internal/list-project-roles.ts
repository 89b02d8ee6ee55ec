import type {
  ListProjectRolesRequest,
  ListProjectRolesResponse,
  ProjectRoles,
} from '#gen/roster/grants/v1/internal_service'
import { RosterError } from '#lib/errors'
import { listAdmissions } from '../../admissions.ts'
import type { Context } from '../../context.ts'
import { effectiveRoles, type GivenRoles } from '../../effective-roles.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function listProjectRoles(
  context: Context,
  { userId, projectId, userOrganizationId }: ListProjectRolesRequest,
): Promise<ListProjectRolesResponse> {
  const project = await context.store.load<Project>('project', projectId)
  if (!project || project.state.removed)
    throw new RosterError('NOT_FOUND', 'PROJECT_NOT_FOUND', 'There is no such project.')
  const [grants, admissions] = await Promise.all([
    effectiveRoles(context, project, userId),
    userOrganizationId === '' ? [] : listAdmissions(context, project, { userId, organizationId: userOrganizationId }),
  ])
  const admits = admissions.some(({ byUserGrant }) => !byUserGrant)
  return { organizationId: project.organizationId, grants: byOrganization(grants), admits, admissions }
}

// What a provider of an organization gives comes to what a hand gave there.
function byOrganization(grants: GivenRoles[]): ProjectRoles[] {
  const keys = new Map<string, Set<string>>()
  for (const { organizationId, roleKeys } of grants)
    keys.set(organizationId, new Set([...(keys.get(organizationId) ?? []), ...roleKeys]))
  return [...keys].map(([organizationId, roleKeys]) => ({ organizationId, roleKeys: [...roleKeys] }))
}
