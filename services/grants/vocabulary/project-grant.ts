import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { Effects } from './effects.ts'

/** The events of the grant of a project to another organization. It belongs to the project's owner. */
export type ProjectGrantEvent =
  | { type: 'added'; payload: NewProjectGrant }
  | { type: 'changed'; payload: { roleKeys: string[] } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export const projectGrantEffects: Effects<ProjectGrantEvent> = {
  added: 'alone',
  changed: 'part',
  deactivated: 'part',
  reactivated: 'part',
  removed: 'alone',
}

export interface NewProjectGrant {
  projectId: string
  grantedOrganizationId: string
  roleKeys: string[]
}

export interface ProjectGrant extends NewProjectGrant {
  inactive?: true | undefined
  removed?: true
}

/** Names the grant of a project. */
export function keyOfProjectGrant(id: string): AggregateKey<ProjectGrant> {
  return { type: 'project_grant', id }
}

/** The project grant after an event. */
export function evolveProjectGrant(
  grant: ProjectGrant | undefined,
  { type, payload }: ProjectGrantEvent,
): ProjectGrant {
  if (type === 'added') return payload
  if (grant === undefined) throw new Error(`a project grant begins with ${type}`)
  switch (type) {
    case 'changed':
      return { ...grant, roleKeys: payload.roleKeys }
    case 'deactivated':
      return { ...grant, inactive: true }
    case 'reactivated':
      return { ...grant, inactive: undefined }
    case 'removed':
      return { ...grant, removed: true }
  }
}
