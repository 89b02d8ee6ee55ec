import type { AddProjectRoleRequest, AddProjectRoleResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { addedRoles } from '../../projects/added-roles.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function addProjectRole(
  { store, config }: Context,
  { projectId, ...role }: AddProjectRoleRequest,
  call: Call,
): Promise<AddProjectRoleResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide: (project: Aggregate<Project>) => addedRoles(project, [role], call.organizationId, config.PROJECT_MAX_ROLES),
    // The call created the role, not its project.
    respond: ({ after }) => ({ details: { ...details(after), creationDate: after.changedAt } }),
  })
}
