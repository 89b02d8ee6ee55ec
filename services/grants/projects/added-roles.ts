import { limitReached, RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { ownProject } from './own-project.ts'
import type { Project, ProjectEvent, ProjectRole } from '../vocabulary/project.ts'

/** Adds roles to a project that the organization owns, all of them or none. */
export function addedRoles(
  aggregate: Aggregate<Project>,
  roles: ({ roleKey: string } & ProjectRole)[],
  organizationId: string,
  mostRoles: number,
): Decision<ProjectEvent> {
  const project = ownProject(aggregate, organizationId)
  const keys = new Set(roles.map(({ roleKey }) => roleKey))
  if (keys.size < roles.length || roles.some(({ roleKey }) => Object.hasOwn(project.roles, roleKey)))
    throw new RosterError('ALREADY_EXISTS', 'ROLE_EXISTS', 'The project already has a role with this key.')
  if (Object.keys(project.roles).length + roles.length > mostRoles)
    throw limitReached('project.roles', mostRoles, `A project has at most ${mostRoles} roles.`)
  return { events: roles.map((payload) => ({ type: 'role.added', payload })), answer: undefined }
}
