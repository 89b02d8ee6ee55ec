import type {
  DeactivateProjectGrantRequest,
  DeactivateProjectGrantResponse,
} from '#gen/roster/grants/v1/project_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProjectGrant } from '../../projects/own-project-grant.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../../vocabulary/project-grant.ts'

export async function deactivateProjectGrant(
  { store }: Context,
  { projectId, grantId }: DeactivateProjectGrantRequest,
  call: Call,
): Promise<DeactivateProjectGrantResponse> {
  return store.execute({
    aggregate: { type: 'project_grant', id: grantId },
    call,
    decide(aggregate: Aggregate<ProjectGrant>): Decision<ProjectGrantEvent> {
      if (ownProjectGrant(aggregate, projectId, call.organizationId).inactive)
        throw new RosterError('FAILED_PRECONDITION', 'PROJECT_GRANT_ALREADY_INACTIVE', 'The grant is inactive already.')
      return { events: [{ type: 'deactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
