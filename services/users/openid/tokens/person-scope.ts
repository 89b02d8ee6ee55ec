import type { OidcCopy, ProjectCopy } from '../applications/application-copy.ts'
import type { Allowed } from '../judge/judge.ts'
import { itself, ofTokens, projectOf, readScope, roleScopes, type Scope } from '../scope.ts'

/** The scopes of an access token of a person. */
export interface PersonScope {
  /** As it is stored. It always names the project that the token is for, so that Roster itself refuses the token. */
  stored: Scope
  /** As the answer names it: without what was not asked for. */
  given: string
  /** Of what a token says of roles: those in the project where they are asked for, and those in Roster. */
  roles: Pick<Scope, 'names' | 'projectId'>
  /** The roles in the form of the reference system, too. */
  asksMaps: boolean
}

/** Of the scopes that a person let an application have, those of one access token: of some it may have fewer. */
export function scopesOf(allowed: Pick<Allowed, 'scopes'>, stored: Pick<Scope, 'names'>): string[] {
  return allowed.scopes.filter((scope) => !ofTokens.includes(scope) || stored.names.has(scope))
}

/** Reads scopes that a person let an application have. */
export function personScope(
  scopes: readonly string[],
  { rosterApi }: Pick<OidcCopy, 'rosterApi'>,
  { id, roleAssertion }: Pick<ProjectCopy, 'id' | 'roleAssertion'>,
): PersonScope {
  const actsInRoster = rosterApi && scopes.includes(itself)
  const given = scopes.filter((scope) => scope !== itself || actsInRoster)
  const own = given.filter((scope) => ofTokens.includes(scope))
  const stored = readScope([...own, ...(actsInRoster ? [] : [`project:${id}`])].join(' '))
  const asksMaps = given.some((scope) => roleScopes.includes(scope))
  const asksRoles =
    roleAssertion || asksMaps || given.some((scope) => scope === 'roles' || projectOf(scope) !== undefined)
  return {
    stored,
    given: given.join(' '),
    roles: { names: stored.names, projectId: asksRoles ? stored.projectId : undefined },
    asksMaps,
  }
}
