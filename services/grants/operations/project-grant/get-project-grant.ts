import type { GetProjectGrantRequest, GetProjectGrantResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProjectGrant, projectGrantNotFound } from '../../projects/own-project-grant.ts'
import { showProjectGrant } from '../../show.ts'
import type { Project } from '../../vocabulary/project.ts'
import type { ProjectGrant } from '../../vocabulary/project-grant.ts'

export async function getProjectGrant(
  { store }: Context,
  { projectId, grantId }: GetProjectGrantRequest,
  call: Call,
): Promise<GetProjectGrantResponse> {
  const [grant, project] = await Promise.all([
    store.load<ProjectGrant>('project_grant', grantId),
    store.load<Project>('project', projectId),
  ])
  const state = ownProjectGrant(grant, projectId, call.organizationId)
  if (project!.state.removed) throw projectGrantNotFound()
  return { projectGrant: showProjectGrant({ ...grant!, state }, project!.state.name) }
}
