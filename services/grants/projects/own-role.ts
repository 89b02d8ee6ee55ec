import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { ownProject } from './own-project.ts'
import type { Project, ProjectRole } from '../vocabulary/project.ts'

/** A role of a project that the organization owns. NOT_FOUND PROJECT_NOT_FOUND, ROLE_NOT_FOUND. */
export function ownRole(project: Aggregate<Project>, roleKey: string, organizationId: string): ProjectRole {
  const { roles } = ownProject(project, organizationId)
  if (!Object.hasOwn(roles, roleKey))
    throw new RosterError('NOT_FOUND', 'ROLE_NOT_FOUND', 'The project has no such role.')
  return roles[roleKey]!
}
