import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'

/**
 * The grant, if it is one of this project, and the organization owns the project. NOT_FOUND PROJECT_GRANT_NOT_FOUND for
 * an unknown and a foreign one alike.
 */
export function ownProjectGrant(
  grant: Aggregate<ProjectGrant> | undefined,
  projectId: string,
  organizationId: string,
): ProjectGrant {
  if (!isLiving(grant, projectId) || grant.organizationId !== organizationId) throw projectGrantNotFound()
  return grant.state
}

/** Whether there is such a grant of this project. */
export function isLiving(
  grant: Aggregate<ProjectGrant> | undefined,
  projectId: string,
): grant is Aggregate<ProjectGrant> & { state: ProjectGrant } {
  return grant?.state !== undefined && !grant.state.removed && grant.state.projectId === projectId
}

export function projectGrantNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'PROJECT_GRANT_NOT_FOUND', 'There is no such grant of the project.')
}
