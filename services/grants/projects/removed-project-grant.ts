import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../vocabulary/project-grant.ts'

/** Takes the grant of a project away, if it is still there. */
export function removedProjectGrant({ state }: Aggregate<ProjectGrant>): Decision<ProjectGrantEvent> {
  if (!state || state.removed) return { events: [], answer: undefined }
  return {
    releases: [{ kind: keyKinds.projectGrant, scope: state.projectId, key: state.grantedOrganizationId }],
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}
