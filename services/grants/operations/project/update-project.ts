import type { UpdateProjectRequest, UpdateProjectResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function updateProject(
  { store }: Context,
  { projectId, name }: UpdateProjectRequest,
  call: Call,
): Promise<UpdateProjectResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(aggregate: Aggregate<Project>): Decision<ProjectEvent> {
      const project = ownProject(aggregate, call.organizationId)
      if (name === undefined || name === project.name) return { events: [], answer: undefined }
      return { events: [{ type: 'changed', payload: { name } }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
