import { grantsPermission } from './roles.ts'

/** The caller of a method, with its roles on the instance and in organizations. */
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
  /** Roles on the whole instance. */
  instanceRoles: string[]
  /** Roles by organization id. */
  organizationRoles: Record<string, string[]>
}

export const anonymous: Caller = {
  userId: '',
  human: false,
  organizationId: '',
  sessionId: '',
  instanceRoles: [],
  organizationRoles: {},
}

/** The caller's roles in an organization: those that it has there and those on the instance. */
export function rolesIn(caller: Caller, organizationId: string | undefined): string[] {
  if (organizationId === undefined || !Object.hasOwn(caller.organizationRoles, organizationId))
    return caller.instanceRoles
  return [...caller.instanceRoles, ...(caller.organizationRoles[organizationId] ?? [])]
}

/** Whether the caller holds the permission in the organization; without an organization, on the instance. */
export function holds(caller: Caller, permission: string, organizationId?: string): boolean {
  return grantsPermission(rolesIn(caller, organizationId), permission)
}
