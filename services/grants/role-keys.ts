import { RosterError } from '#lib/errors'

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
