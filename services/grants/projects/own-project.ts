import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Project } from '../vocabulary/project.ts'

/** The project, if the organization owns it. NOT_FOUND PROJECT_NOT_FOUND for an unknown and a foreign one alike. */
export function ownProject(project: Aggregate<Project> | undefined, organizationId: string): Project {
  if (!project?.state || project.state.removed || project.organizationId !== organizationId)
    throw new RosterError('NOT_FOUND', 'PROJECT_NOT_FOUND', 'The organization owns no such project.')
  return project.state
}

/** FAILED_PRECONDITION PROJECT_INACTIVE where nothing may be granted. */
export function refuseInactiveProject(project: Project): void {
  if (project.inactive) throw new RosterError('FAILED_PRECONDITION', 'PROJECT_INACTIVE', 'The project is inactive.')
}
