import type { ReactivateProjectRequest, ReactivateProjectResponse } from '#gen/roster/grants/v1/project_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function reactivateProject(
  { store }: Context,
  { projectId }: ReactivateProjectRequest,
  call: Call,
): Promise<ReactivateProjectResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(aggregate: Aggregate<Project>): Decision<ProjectEvent> {
      if (!ownProject(aggregate, call.organizationId).inactive)
        throw new RosterError('FAILED_PRECONDITION', 'PROJECT_NOT_INACTIVE', 'The project is not inactive.')
      return { events: [{ type: 'reactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
