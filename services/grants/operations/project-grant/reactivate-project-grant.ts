import type {
  ReactivateProjectGrantRequest,
  ReactivateProjectGrantResponse,
} from '#gen/roster/grants/v1/project_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProjectGrant } from '../../projects/own-project-grant.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../../vocabulary/project-grant.ts'

export async function reactivateProjectGrant(
  { store }: Context,
  { projectId, grantId }: ReactivateProjectGrantRequest,
  call: Call,
): Promise<ReactivateProjectGrantResponse> {
  return store.execute({
    aggregate: { type: 'project_grant', id: grantId },
    call,
    decide(aggregate: Aggregate<ProjectGrant>): Decision<ProjectGrantEvent> {
      if (!ownProjectGrant(aggregate, projectId, call.organizationId).inactive)
        throw new RosterError('FAILED_PRECONDITION', 'PROJECT_GRANT_NOT_INACTIVE', 'The grant is not inactive.')
      return { events: [{ type: 'reactivated', payload: {} }], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
