import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { projectGrantKey } from '../holdings.ts'
import type { ProjectGrant, ProjectGrantEvent } from '../vocabulary/project-grant.ts'

/** Takes the grant of a project away, if it is still there. */
export function removedProjectGrant({ state }: Aggregate<ProjectGrant>): Decision<ProjectGrantEvent> {
  if (!state || state.removed) return { events: [], answer: undefined }
  return {
    releases: [projectGrantKey(state.projectId, state.grantedOrganizationId)],
    events: [{ type: 'removed', payload: {} }],
    answer: undefined,
  }
}
