import { methods } from './methods.ts'

/** Roles on the whole instance and in one organization, and the permissions that each role gives. */
const managesUsers = ['user.read', 'user.write', 'user.delete', 'user.grant.read', 'user.grant.write']
const permissionsOf = new Map<string, (permission: string) => boolean>([
  ['IAM_OWNER', () => true],
  ['ORG_OWNER', (permission) => !permission.startsWith('iam.')],
  ['ORG_USER_MANAGER', (permission) => managesUsers.includes(permission)],
  ['ORG_OWNER_VIEWER', (permission) => permission.endsWith('.read') && !permission.startsWith('iam.')],
])

// Operations on webhooks of all organizations ask for these in code. The access options of proto/ name all others.
const askedInCode = ['iam.webhook.read', 'iam.webhook.write']

/** Every permission that `coversRole` compares. */
export const permissions: readonly string[] = [
  ...new Set([...methods.values()].flatMap(({ access }) => access.permission || []).concat(askedInCode)),
].toSorted()

/** Whether one of the roles gives the permission. An unknown role gives none. */
export function grantsPermission(roles: string[], permission: string): boolean {
  return roles.some((role) => permissionsOf.get(role)?.(permission) ?? false)
}

/**
 * Whether the roles give every permission that `role` gives. A caller may only grant a role that its own roles cover.
 */
export function coversRole(roles: string[], role: string): boolean {
  if (roles.includes(role)) return true
  return permissions.every((permission) => !grantsPermission([role], permission) || grantsPermission(roles, permission))
}
