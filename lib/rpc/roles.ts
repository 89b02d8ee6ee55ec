import { methods } from './methods.ts'

/** Where a role is held: on the whole instance, in one organization, or in one project of an organization. */
export type RoleLevel = 'instance' | 'organization' | 'project'

interface Role {
  level: RoleLevel
  gives(permission: string): boolean
}

const anything = () => true
const notOfInstance = (permission: string) => !permission.startsWith('iam.')
const isRead = (permission: string) => permission.endsWith('.read')
const only = (permissions: string) => {
  const given = new Set(permissions.trim().split(/\s+/))
  return (permission: string) => given.has(permission)
}

const managesUsers = `
  org.read project.read project.role.read session.read session.delete
  user.read user.write user.delete user.grant.read user.grant.write user.grant.delete user.membership.read`
const editsPermissions = `
  org.read org.member.read project.read project.member.read project.role.read project.grant.read
  user.read user.grant.read user.grant.write user.grant.delete`
const ownsProject = `
  project.read project.write project.delete project.role.read project.role.write project.role.delete
  project.member.read project.member.write project.member.delete
  project.grant.read project.grant.write project.grant.delete
  user.grant.read user.grant.write user.grant.delete`

/**
 * Every role, where it is held, and the permissions that it gives there. The names and their meaning are those of
 * ZITADEL. A permission that no method asks for in a project, such as `user.read`, gives nothing there.
 */
const roles = new Map<string, Role>([
  ['IAM_OWNER', { level: 'instance', gives: anything }],
  ['IAM_OWNER_VIEWER', { level: 'instance', gives: isRead }],
  ['IAM_ORG_MANAGER', { level: 'instance', gives: notOfInstance }],
  [
    'IAM_USER_MANAGER',
    {
      level: 'instance',
      gives: only(`${managesUsers} org.member.read org.member.delete project.member.read
        project.grant.read project.grant.write project.grant.delete`),
    },
  ],
  ['ORG_OWNER', { level: 'organization', gives: notOfInstance }],
  [
    'ORG_OWNER_VIEWER',
    { level: 'organization', gives: (permission) => isRead(permission) && notOfInstance(permission) },
  ],
  ['ORG_USER_MANAGER', { level: 'organization', gives: only(managesUsers) }],
  ['ORG_USER_PERMISSION_EDITOR', { level: 'organization', gives: only(editsPermissions) }],
  [
    'ORG_PROJECT_PERMISSION_EDITOR',
    { level: 'organization', gives: only(`${editsPermissions} project.grant.write project.grant.delete`) },
  ],
  ['PROJECT_OWNER', { level: 'project', gives: only(ownsProject) }],
  [
    'PROJECT_OWNER_VIEWER',
    {
      level: 'project',
      gives: only('project.read project.role.read project.member.read project.grant.read user.grant.read'),
    },
  ],
  [
    'PROJECT_GRANT_OWNER',
    {
      level: 'project',
      gives: only(
        'project.read project.role.read project.grant.read user.grant.read user.grant.write user.grant.delete',
      ),
    },
  ],
])

// Operations on webhooks of all organizations ask for these in code. The access options of proto/ name all others.
const askedInCode = ['iam.webhook.read', 'iam.webhook.write']

/** Every permission that `coversRole` compares. */
export const permissions: readonly string[] = [
  ...new Set([...methods.values()].flatMap(({ access }) => access.permission || []).concat(askedInCode)),
].toSorted()

/** The names of the roles of a level. */
export function rolesOf(level: RoleLevel): string[] {
  return [...roles].filter(([, role]) => role.level === level).map(([name]) => name)
}

/** Whether one of the roles gives the permission. An unknown role gives none. */
export function grantsPermission(held: string[], permission: string): boolean {
  return held.some((role) => roles.get(role)?.gives(permission) ?? false)
}

/**
 * Whether the roles give every permission that `role` gives, as far as `role` reaches. A role of an organization covers
 * none of the instance: it has the same permissions, but in one place. A caller may only grant a role that its own
 * roles cover.
 */
export function coversRole(held: string[], role: string): boolean {
  if (held.includes(role)) return true
  const reach = reachOf(role)
  const asWide = held.filter((other) => reachOf(other) >= reach)
  return permissions.every(
    (permission) => !grantsPermission([role], permission) || grantsPermission(asWide, permission),
  )
}

const levels: RoleLevel[] = ['project', 'organization', 'instance']

// An unknown role gives nothing, so it reaches nowhere.
function reachOf(role: string): number {
  const known = roles.get(role)
  return known ? levels.indexOf(known.level) : -1
}
