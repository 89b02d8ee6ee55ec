import { limitReached, RosterError } from '#lib/errors'
import type { Project } from '../vocabulary/project.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'

/** The role keys of a project grant, each once. FAILED_PRECONDITION ROLE_NOT_FOUND, RESOURCE_EXHAUSTED LIMIT_REACHED. */
export function projectGrantKeys(asked: string[], { roles }: Project, mostKeys: number): string[] {
  const roleKeys = knownKeys(asked, (key) => Object.hasOwn(roles, key))
  if (roleKeys.length > mostKeys)
    throw limitReached('project_grant.role_keys', mostKeys, `A project grant has at most ${mostKeys} role keys.`)
  return roleKeys
}

/**
 * The role keys of a user grant, each once. Under a project grant, that has to have them too. FAILED_PRECONDITION
 * ROLE_NOT_FOUND, RESOURCE_EXHAUSTED LIMIT_REACHED.
 */
export function userGrantKeys(
  asked: string[],
  { roles }: Project,
  grant: ProjectGrant | undefined,
  mostKeys: number,
): string[] {
  const isKnown = (key: string) => Object.hasOwn(roles, key) && (!grant || grant.roleKeys.includes(key))
  const roleKeys = knownKeys(asked, isKnown)
  if (roleKeys.length > mostKeys)
    throw limitReached('user_grant.role_keys', mostKeys, `A user grant has at most ${mostKeys} role keys.`)
  return roleKeys
}

/** Whether two lists have the same keys. Each list has a key once. */
export function sameKeys(left: string[], right: string[]): boolean {
  return left.length === right.length && new Set([...left, ...right]).size === left.length
}

function knownKeys(asked: string[], isKnown: (key: string) => boolean): string[] {
  const { roleKeys, unknown } = sortRoleKeys(asked, isKnown)
  if (unknown.length > 0) throw roleNotFound(unknown)
  return roleKeys
}

/** Each key once; and those among them that are not known. */
export function sortRoleKeys(roleKeys: string[], isKnown: (key: string) => boolean) {
  const unique = [...new Set(roleKeys)]
  return { roleKeys: unique, unknown: unique.filter((key) => !isKnown(key)) }
}

const mostNamed = 10

/** FAILED_PRECONDITION ROLE_NOT_FOUND. It names the first of the keys. */
export function roleNotFound(unknown: string[]): RosterError {
  const named = unknown.slice(0, mostNamed).map((key) => [...key].slice(0, 200).join(''))
  return new RosterError('FAILED_PRECONDITION', 'ROLE_NOT_FOUND', `There are no such roles: ${named.join(', ')}.`, {
    metadata: { roleKeys: JSON.stringify(named) },
  })
}
