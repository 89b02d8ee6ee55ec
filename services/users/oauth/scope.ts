import { RosterError } from '#lib/errors'

/** The uses that a token allows. */
export interface Scope {
  /** As it is stored and answered: each scope once, separated by blanks. */
  text: string
  names: ReadonlySet<string>
  /** The project whose roles the token tells. */
  projectId: string | undefined
}

/** Every scope except those of projects. */
export const plainScopes = ['openid', 'profile', 'email', 'roles']

const project = /^project:([\w-]{1,200})$/

/** Reads a scope parameter. INVALID_ARGUMENT INVALID_SCOPE for an unknown scope, and for more than one project. */
export function readScope(text: string): Scope {
  const names = new Set(text.split(' ').filter(Boolean))
  const projects = [...names].flatMap((name) => project.exec(name)?.[1] ?? [])
  const unknown = [...names].filter((name) => !plainScopes.includes(name) && !project.test(name))
  if (unknown.length > 0 || projects.length > 1) throw invalidScope()
  return { text: [...names].join(' '), names, projectId: projects[0] }
}

/** The error for a scope that nobody has, or that the client may not have. */
export function invalidScope(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'INVALID_SCOPE', 'The scope is unknown, or gives this client nothing.')
}
