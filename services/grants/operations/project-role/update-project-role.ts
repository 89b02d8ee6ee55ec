import type { UpdateProjectRoleRequest, UpdateProjectRoleResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownRole } from '../../projects/own-role.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function updateProjectRole(
  { store }: Context,
  request: UpdateProjectRoleRequest,
  call: Call,
): Promise<UpdateProjectRoleResponse> {
  return store.execute({
    aggregate: { type: 'project', id: request.projectId },
    call,
    decide: (project: Aggregate<Project>) => decide(project, request, call.organizationId),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide(
  project: Aggregate<Project>,
  { roleKey, displayName, group }: UpdateProjectRoleRequest,
  organizationId: string,
): Decision<ProjectEvent> {
  const role = ownRole(project, roleKey, organizationId)
  const changed = { displayName: displayName ?? role.displayName, group: group ?? role.group }
  if (changed.displayName === role.displayName && changed.group === role.group) return { events: [], answer: undefined }
  return { events: [{ type: 'role.changed', payload: { roleKey, ...changed } }], answer: undefined }
}
