import { OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import type { OidcCopy } from '../../applications/application-copy.ts'
import { itself, plainScopes, projectOf, roleScopes } from '../../oauth/scope.ts'
import { wordsOf } from './parameters.ts'

/** The scopes of a request. */
export interface AskedScopes {
  /** Those that are known, as they were asked for. */
  scopes: string[]
  /** The only organization whose people it is for. */
  organizationScope: string | undefined
  /** Its tokens are for Roster itself. */
  actsInRoster: boolean
}

const organization = /^urn:zitadel:iam:org:id:([\w-]{1,200})$/
/** Scopes of the reference system that ask for claims. */
const ofClaims = [...roleScopes, 'urn:zitadel:iam:user:resourceowner']

/** The organization that a scope names. */
export function organizationOf(scope: string): string | undefined {
  return organizationsOf(wordsOf(scope))[0]
}

function organizationsOf(scopes: string[]): string[] {
  return scopes.flatMap((scope) => organization.exec(scope)?.[1] ?? [])
}

/** Reads the parameter `scope`. Undefined for an audience that the application may not have, or several organizations. */
export function readScopes(
  text: string,
  projectId: string,
  { grantTypes, rosterApi }: OidcCopy,
): AskedScopes | undefined {
  const asked = wordsOf(text)
  const organizations = organizationsOf(asked)
  const projects = asked.flatMap((scope) => projectOf(scope) ?? [])
  const actsInRoster = asked.includes(itself)
  const mayAct = rosterApi && projects.length === 0
  if (organizations.length > 1 || projects.some((id) => id !== projectId) || (actsInRoster && !mayAct)) return undefined
  const mayRefresh = grantTypes.includes(OIDCGrantType.OIDC_GRANT_TYPE_REFRESH_TOKEN)
  const isKnown = (scope: string) =>
    plainScopes.includes(scope) ||
    ofClaims.includes(scope) ||
    organization.test(scope) ||
    scope === itself ||
    projectOf(scope) !== undefined ||
    (scope === 'offline_access' && mayRefresh)
  return { scopes: asked.filter(isKnown), organizationScope: organizations[0], actsInRoster }
}
