import { grantsPermission } from '../roles.ts'

/** Who calls, and where they hold which roles. */
export interface Caller {
  /** Empty for a call without a token. */
  userId: string
  human: boolean
  /** The organization that the caller belongs to. */
  organizationId: string
  /** The session of the token; empty for a personal access token. */
  sessionId: string
  /** What the access token was issued for; other tokens have none and stand for everything. */
  scope?: string | undefined
  /** When a token with a scope ends: Unix time in milliseconds. */
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

/** What the caller may do in an organization: its roles there and those on the instance. */
export function rolesIn(caller: Caller, organizationId: string | undefined): string[] {
  if (organizationId === undefined || !Object.hasOwn(caller.organizationRoles, organizationId))
    return caller.instanceRoles
  return [...caller.instanceRoles, ...(caller.organizationRoles[organizationId] ?? [])]
}

/** Whether the caller holds the permission in the organization; without an organization, on the instance. */
export function holds(caller: Caller, permission: string, organizationId?: string): boolean {
  return grantsPermission(rolesIn(caller, organizationId), permission)
}
