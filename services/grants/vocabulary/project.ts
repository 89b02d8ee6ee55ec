import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { Effects } from './effects.ts'

/** The events of a project. It belongs to the organization that owns it. */
export type ProjectEvent =
  | { type: 'added'; payload: { name: string } }
  | { type: 'changed'; payload: { name: string } }
  | { type: 'checks.changed'; payload: ProjectChecks }
  | { type: 'role.added'; payload: { roleKey: string } & ProjectRole }
  | { type: 'role.changed'; payload: { roleKey: string } & ProjectRole }
  | { type: 'role.removed'; payload: { roleKey: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export const projectEffects: Effects<ProjectEvent> = {
  added: 'alone',
  changed: 'none',
  'checks.changed': 'none',
  'role.added': 'part',
  'role.changed': 'part',
  'role.removed': 'part',
  deactivated: 'part',
  reactivated: 'part',
  removed: 'alone',
}

export interface ProjectRole {
  displayName: string
  group: string
}

/** What counts when people sign in. */
export interface ProjectChecks {
  /** Only people with a grant get in. */
  roleCheck: boolean
  /** Only people of its organization, of organizations that it is granted to, or with a grant get in. */
  hasProjectCheck: boolean
  /** Tokens have the roles without being asked. */
  roleAssertion: boolean
}

export interface Project {
  name: string
  /** Missing where they are the usual ones. */
  checks?: ProjectChecks
  roles: Record<string, ProjectRole>
  inactive?: true | undefined
  /** Nothing else is kept, and the id stays taken for good. */
  removed?: true
}

/** Names a project. */
export function keyOfProject(id: string): AggregateKey<Project> {
  return { type: 'project', id }
}

export function evolveProject(project: Project | undefined, { type, payload }: ProjectEvent): Project {
  if (type === 'added') return { name: payload.name, roles: {} }
  if (project === undefined) throw new Error(`a project begins with ${type}`)
  switch (type) {
    case 'changed':
      return { ...project, name: payload.name }
    case 'checks.changed':
      return { ...project, checks: payload }
    case 'role.added':
    case 'role.changed': {
      const { roleKey, ...role } = payload
      return { ...project, roles: { ...project.roles, [roleKey]: role } }
    }
    case 'role.removed': {
      const { [payload.roleKey]: _, ...roles } = project.roles
      return { ...project, roles }
    }
    case 'deactivated':
      return { ...project, inactive: true }
    case 'reactivated':
      return { ...project, inactive: undefined }
    case 'removed':
      return { name: '', roles: {}, removed: true }
  }
}

export function checksOf({ checks }: Pick<Project, 'checks'>): ProjectChecks {
  return checks ?? { roleCheck: false, hasProjectCheck: true, roleAssertion: false }
}
