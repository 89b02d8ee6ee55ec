import type { RemoveProjectRequest, RemoveProjectResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import { removedProject } from '../../projects/removed-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

/** Its grants, user grants and members go after it: see `startCascades`. */
export async function removeProject(
  { store }: Context,
  { projectId }: RemoveProjectRequest,
  call: Call,
): Promise<RemoveProjectResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(project: Aggregate<Project>): Decision<ProjectEvent> {
      ownProject(project, call.organizationId)
      return removedProject(project)
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
