import type { GetProjectRequest, GetProjectResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import { showProject } from '../../show.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function getProject(
  { store }: Context,
  { projectId }: GetProjectRequest,
  call: Call,
): Promise<GetProjectResponse> {
  const project = await store.load<Project>('project', projectId)
  return { project: showProject({ ...project!, state: ownProject(project, call.organizationId) }) }
}
