import type {
  BulkAddProjectRolesRequest,
  BulkAddProjectRolesResponse,
  NewProjectRole,
} from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { addedRoles } from '../../projects/added-roles.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function bulkAddProjectRoles(
  { store, config }: Context,
  { projectId, roles }: BulkAddProjectRolesRequest,
  call: Call,
): Promise<BulkAddProjectRolesResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide: (project: Aggregate<Project>) =>
      addedRoles(project, roles.map(toPayload), call.organizationId, config.PROJECT_MAX_ROLES),
    // The call created the roles, not their project.
    respond: ({ after }) => ({ details: { ...details(after), creationDate: after.changedAt } }),
  })
}

function toPayload({ key, displayName, group }: NewProjectRole) {
  return { roleKey: key, displayName, group }
}
