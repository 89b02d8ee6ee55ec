import { grantsPermission } from './roles.ts'

/** The caller of a method, with its roles on the instance, in organizations and in projects. */
export interface Caller {
  /** Empty for a call without a token. */
  userId: string
  human: boolean
  /** The organization that the caller belongs to. */
  organizationId: string
  /** The session of the token; empty for a personal access token. */
  sessionId: string
  /** The scope that the access token was issued for. Other tokens have no scope and stand for everything. */
  scope?: string | undefined
  /** The end of a token with a scope: Unix time in milliseconds. */
  tokenEnd?: number | undefined
  /** Of an access token that a person let an application have. */
  authorizationId?: string | undefined
  /**
   * Whether the caller has a role anywhere. Then the roles below are those on the instance, in its own organization and
   * in the acting one: `callerIn` adds others.
   */
  hasRole?: boolean | undefined
  /** Roles on the whole instance. */
  instanceRoles: string[]
  /** Roles by organization id. */
  organizationRoles: Record<string, string[]>
  /** Roles by organization id and project id. */
  projectRoles: Record<string, Record<string, string[]>>
}

/** What a user holds in one organization: its roles there, and in projects by their ids. */
export interface RolesThere {
  roles?: string[] | undefined
  projects?: Record<string, string[]> | undefined
}

export const anonymous: Caller = {
  userId: '',
  human: false,
  organizationId: '',
  sessionId: '',
  instanceRoles: [],
  organizationRoles: {},
  projectRoles: {},
}

/** The caller, as one that has these roles in an organization, and no others there. */
export function withRoles(caller: Caller, organizationId: string, { roles, projects }: RolesThere): Caller {
  const { [organizationId]: _, ...organizationRoles } = caller.organizationRoles
  const { [organizationId]: __, ...projectRoles } = caller.projectRoles
  return {
    ...caller,
    organizationRoles: { ...organizationRoles, ...(roles && { [organizationId]: roles }) },
    projectRoles: { ...projectRoles, ...(projects && { [organizationId]: projects }) },
  }
}

/** The caller's roles in an organization, or in a project of it, with those that reach there from above. */
export function rolesIn(caller: Caller, organizationId: string | undefined, projectId?: string): string[] {
  const inOrganization = own(caller.organizationRoles, organizationId) ?? []
  const inProject = own(own(caller.projectRoles, organizationId), projectId) ?? []
  return [...caller.instanceRoles, ...inOrganization, ...inProject]
}

/** Whether the caller holds the permission in the organization or project; without both, on the instance. */
export function holds(caller: Caller, permission: string, organizationId?: string, projectId?: string): boolean {
  return grantsPermission(rolesIn(caller, organizationId, projectId), permission)
}

/** Whether the caller has any role in the organization, or in one of its projects. */
export function actsIn({ organizationRoles, projectRoles }: Caller, organizationId: string): boolean {
  return Object.hasOwn(organizationRoles, organizationId) || Object.hasOwn(projectRoles, organizationId)
}

// An id may be any text, such as the name of a property that every object inherits.
function own<T>(record: Record<string, T> | undefined, key: string | undefined): T | undefined {
  return record !== undefined && key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
