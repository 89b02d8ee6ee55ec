import type { RemoveProjectRoleRequest, RemoveProjectRoleResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownRole } from '../../projects/own-role.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

/** The grants of the project lose the role after it: see `startCascades`. */
export async function removeProjectRole(
  { store }: Context,
  { projectId, roleKey }: RemoveProjectRoleRequest,
  call: Call,
): Promise<RemoveProjectRoleResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(project: Aggregate<Project>): Decision<ProjectEvent> {
      ownRole(project, roleKey, call.organizationId)
      return { events: [{ type: 'role.removed', payload: { roleKey } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
