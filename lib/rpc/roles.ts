import { registry } from '../registry.ts'
import { methods, option } from './methods.ts'

/** Where a role is held: on the whole instance, in one organization, or in one project of an organization. */
export type RoleLevel = 'instance' | 'organization' | 'project'

interface Role {
  level: RoleLevel
  gives(permission: string): boolean
}

/** Every role of proto/roster/options/v1/roles.proto, by the name that requests use. */
const roles = readRoles()

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

// `roster.options.v1.Gives` in canonical JSON.
interface Gives {
  level: `LEVEL_${Uppercase<RoleLevel>}`
  permissions?: string[]
  except?: string[]
  also?: string[]
}

function readRoles(): Map<string, Role> {
  const { values } = registry.getEnum('roster.options.v1.Role')!
  const declared = values.filter(({ number }) => number !== 0)
  const given = new Map(declared.map((value) => [value.name, option(value, 'roster.options.v1.gives') as Gives]))
  const compile = ({ permissions: own = [], except = [], also = [] }: Gives): Role['gives'] => {
    const [isOwn, isExcepted] = [matcher(own), matcher(except)]
    const others = also.map((name) => compile(given.get(name)!))
    return (permission) => (isOwn(permission) && !isExcepted(permission)) || others.some((gives) => gives(permission))
  }
  return new Map(
    [...given].map(([name, gives]) => {
      const level = gives.level.replace('LEVEL_', '').toLowerCase() as RoleLevel
      return [name.replace('ROLE_', ''), { level, gives: compile(gives) }]
    }),
  )
}

function matcher(patterns: string[]): (permission: string) => boolean {
  const [wild, exact] = [patterns.filter((pattern) => pattern.includes('*')), new Set(patterns)]
  const parts = wild.map((pattern) => pattern.split('*') as [string, string])
  return (permission) =>
    exact.has(permission) || parts.some(([start, end]) => permission.startsWith(start) && permission.endsWith(end))
}
