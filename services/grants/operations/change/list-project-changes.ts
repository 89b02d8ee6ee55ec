import type { ListProjectChangesRequest, ListProjectChangesResponse } from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import { findChanges } from '../../search/changes.ts'
import type { Project } from '../../vocabulary/project.ts'

export async function listProjectChanges(
  context: Context,
  request: ListProjectChangesRequest,
  call: Call,
): Promise<ListProjectChangesResponse> {
  const { projectId } = request
  ownProject(await context.store.load<Project>('project', projectId), call.organizationId)
  return findChanges(context, { type: 'project', id: projectId }, { method: 'ListProjectChanges', request, call })
}
