/** The events of a project. It belongs to the organization that owns it. */
export type ProjectEvent =
  | { type: 'added'; payload: { name: string } }
  | { type: 'changed'; payload: { name: string } }
  | { type: 'role.added'; payload: { roleKey: string } & ProjectRole }
  | { type: 'role.changed'; payload: { roleKey: string } & ProjectRole }
  | { type: 'role.removed'; payload: { roleKey: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export interface ProjectRole {
  displayName: string
  group: string
}

export interface Project {
  name: string
  roles: Record<string, ProjectRole>
  inactive?: true | undefined
  /** Nothing else is kept, and the id stays taken for good. */
  removed?: true
}

export function evolveProject(project: Project | undefined, { type, payload }: ProjectEvent): Project {
  if (type === 'added') return { name: payload.name, roles: {} }
  if (project === undefined) throw new Error(`a project begins with ${type}`)
  switch (type) {
    case 'changed':
      return { ...project, name: payload.name }
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
