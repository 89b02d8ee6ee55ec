import type { UpdateProjectGrantRequest, UpdateProjectGrantResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProjectGrant, projectGrantNotFound } from '../../projects/own-project-grant.ts'
import { projectGrantKeys, sameKeys } from '../../projects/role-keys.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../../vocabulary/project-grant.ts'

export async function updateProjectGrant(
  { store, config }: Context,
  request: UpdateProjectGrantRequest,
  call: Call,
): Promise<UpdateProjectGrantResponse> {
  return store.execute({
    aggregate: { type: 'project_grant', id: request.grantId },
    reads: { project: keyOfProject(request.projectId) },
    call,
    decide: (grant: Aggregate<ProjectGrant>, _now, { project }) =>
      decide(grant, project, request, call.organizationId, config.GRANT_MAX_ROLE_KEYS),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide(
  aggregate: Aggregate<ProjectGrant>,
  project: Aggregate<Project>,
  request: UpdateProjectGrantRequest,
  organizationId: string,
  mostKeys: number,
): Decision<ProjectGrantEvent> {
  const grant = ownProjectGrant(aggregate, request.projectId, organizationId)
  if (!project.state || project.state.removed) throw projectGrantNotFound()
  const roleKeys = projectGrantKeys(request.roleKeys, project.state, mostKeys)
  if (sameKeys(roleKeys, grant.roleKeys)) return { events: [], answer: undefined }
  return { events: [{ type: 'changed', payload: { roleKeys } }], answer: undefined }
}
