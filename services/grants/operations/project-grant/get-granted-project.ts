import type { GetGrantedProjectRequest, GetGrantedProjectResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isLiving, projectGrantNotFound } from '../../projects/own-project-grant.ts'
import { showProjectGrant } from '../../show.ts'
import type { Project } from '../../vocabulary/project.ts'
import type { ProjectGrant } from '../../vocabulary/project-grant.ts'

export async function getGrantedProject(
  { store }: Context,
  { projectId, grantId }: GetGrantedProjectRequest,
  call: Call,
): Promise<GetGrantedProjectResponse> {
  const [grant, project] = await Promise.all([
    store.load<ProjectGrant>('project_grant', grantId),
    store.load<Project>('project', projectId),
  ])
  const isGranted = isLiving(grant, projectId) && grant.state.grantedOrganizationId === call.organizationId
  if (!isGranted || project!.state.removed) throw projectGrantNotFound()
  return { grantedProject: showProjectGrant(grant, project!.state.name) }
}
