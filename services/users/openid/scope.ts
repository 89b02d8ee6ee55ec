import { RosterError } from '#lib/errors'

/** The uses that a token allows. */
export interface Scope {
  /** As it is stored and answered: each scope once, separated by blanks. */
  text: string
  names: ReadonlySet<string>
  /** The project whose roles the token has. */
  projectId: string | undefined
}

/** Every scope except those of projects. */
export const plainScopes = ['openid', 'profile', 'email', 'roles']

/**
 * With it, an application reads the tokens that a person has of the identity provider: RetrieveProviderTokens. Access tokens of
 * people alone have it.
 */
export const providerTokens = 'urn:roster:provider_tokens'

/** The scopes that one access token may lack, though the person let the application have them. */
export const ofTokens = [...plainScopes, providerTokens]

const project = /^project:([\w-]{1,200})$/

/** A scope of the reference system: the token is for the system itself. */
export const itself = 'urn:zitadel:iam:org:project:id:zitadel:aud'
const foreignProject = /^urn:zitadel:iam:org:project:id:([\w-]{1,200}):aud$/
/** Scopes of the reference system that ask for roles in the project. */
export const roleScopes = ['urn:zitadel:iam:org:project:roles', 'urn:zitadel:iam:org:projects:roles']
/** Scopes that ask for claims of every token, or of every token for a project. */
const granted = ['urn:zitadel:iam:org:projects:roles', 'urn:zitadel:iam:user:resourceowner']

/**
 * Reads a scope parameter. Scopes of the reference system become those of Roster. INVALID_ARGUMENT INVALID_SCOPE for an
 * unknown scope, and for more than one audience.
 */
export function readScope(text: string): Scope {
  const asked = new Set(text.split(' ').filter(Boolean))
  const names = new Set([...asked].flatMap(toOwn))
  const projects = [...names].flatMap((name) => project.exec(name)?.[1] ?? [])
  const unknown = [...names].filter((name) => !ofTokens.includes(name) && !project.test(name))
  const audiences = projects.length + (asked.has(itself) ? 1 : 0)
  if (unknown.length > 0 || audiences > 1) throw invalidScope()
  return { text: [...names].join(' '), names, projectId: projects[0] }
}

function toOwn(name: string): string[] {
  if (name === itself || granted.includes(name)) return []
  const projectId = foreignProject.exec(name)?.[1]
  return [projectId === undefined ? name : `project:${projectId}`]
}

/** The project that a scope names as the audience. */
export function projectOf(scope: string): string | undefined {
  return scope === itself ? undefined : (project.exec(scope) ?? foreignProject.exec(scope))?.[1]
}

/** The error for a scope that does not exist, or that the client may not have. */
export function invalidScope(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'INVALID_SCOPE', 'scope: it is unknown, or gives this client nothing.')
}
