import type { AddProjectRoleRequest, AddProjectRoleResponse } from '#gen/roster/grants/v1/project_service'
import { limitReached, RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../own-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function addProjectRole(
  { store, config }: Context,
  request: AddProjectRoleRequest,
  call: Call,
): Promise<AddProjectRoleResponse> {
  return store.execute({
    aggregate: { type: 'project', id: request.projectId },
    call,
    decide: (project: Aggregate<Project>) => decide(project, request, call.organizationId, config.PROJECT_MAX_ROLES),
    // The call created the role, not its project.
    respond: ({ after }) => ({ details: { ...details(after), creationDate: after.changedAt } }),
  })
}

function decide(
  aggregate: Aggregate<Project>,
  { roleKey, displayName, group }: AddProjectRoleRequest,
  organizationId: string,
  mostRoles: number,
): Decision<ProjectEvent> {
  const project = ownProject(aggregate, organizationId)
  if (Object.hasOwn(project.roles, roleKey))
    throw new RosterError('ALREADY_EXISTS', 'ROLE_EXISTS', 'The project already has a role with this key.')
  if (Object.keys(project.roles).length >= mostRoles)
    throw limitReached('project.roles', mostRoles, `The project has ${mostRoles} roles already.`)
  return { events: [{ type: 'role.added', payload: { roleKey, displayName, group } }], answer: undefined }
}
