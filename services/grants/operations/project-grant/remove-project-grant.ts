import type { RemoveProjectGrantRequest, RemoveProjectGrantResponse } from '#gen/roster/grants/v1/project_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownProjectGrant } from '../../projects/own-project-grant.ts'
import { removedProjectGrant } from '../../projects/removed-project-grant.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../../vocabulary/project-grant.ts'

/** The user grants and members of the project in that organization go after it: see `startCascades`. */
export async function removeProjectGrant(
  { store }: Context,
  { projectId, grantId }: RemoveProjectGrantRequest,
  call: Call,
): Promise<RemoveProjectGrantResponse> {
  return store.execute({
    aggregate: { type: 'project_grant', id: grantId },
    call,
    decide(grant: Aggregate<ProjectGrant>): Decision<ProjectGrantEvent> {
      ownProjectGrant(grant, projectId, call.organizationId)
      return removedProjectGrant(grant)
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
