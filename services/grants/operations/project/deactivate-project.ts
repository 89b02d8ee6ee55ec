import type { DeactivateProjectRequest, DeactivateProjectResponse } from '#gen/roster/grants/v1/project_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProject } from '../../projects/own-project.ts'
import type { Project, ProjectEvent } from '../../vocabulary/project.ts'

export async function deactivateProject(
  { store }: Context,
  { projectId }: DeactivateProjectRequest,
  call: Call,
): Promise<DeactivateProjectResponse> {
  return store.execute({
    aggregate: { type: 'project', id: projectId },
    call,
    decide(aggregate: Aggregate<Project>): Decision<ProjectEvent> {
      if (ownProject(aggregate, call.organizationId).inactive)
        throw new RosterError('FAILED_PRECONDITION', 'PROJECT_ALREADY_INACTIVE', 'The project is inactive already.')
      return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
