import { OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import type { OidcCopy } from '../applications/application-copy.ts'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { itself, plainScopes, projectOf, providerTokens, roleScopes } from '../scope.ts'
import { lookupDomain } from '../../directory/organizations/organization-domain.ts'
import { type Mistake, mistake, type Rule } from './mistakes.ts'
import { wordsOf } from './parameters.ts'

/** The scopes of a request. */
export interface AskedScopes {
  /** Those that are known, as they were asked for. */
  scopes: string[]
  /** The only organization whose people it is for, by a scope or by the settings of the application. */
  organizationScope: string | undefined
  /** The identity provider that people are to sign in by. Missing: the page offers all. */
  idpId?: string | undefined
  /** Its tokens are for Roster itself. */
  actsInRoster: boolean
}

/** Of RFC 6749 (section 3.3). Two blanks, and one at an end, name nothing between them: configuration files have them. */
const readable = /^[ !#-[\]-~]*$/
const organization = /^urn:zitadel:iam:org:id:([\w-]{1,200})$/
const provider = /^urn:zitadel:iam:org:idp:id:([\w-]{1,200})$/
const domain = /^urn:zitadel:iam:org:domain:primary:([A-Za-z\d.-]{1,200})$/
/**
 * It would say whose people get in, and to pass over one that cannot be read would let in everybody: also one that has
 * something before it, or that was encoded once too often.
 */
const restricting = new RegExp('urn:zitadel:iam:org:(id|domain:primary):'.replaceAll(':', '(:|%(25)*3a)'), 'i')
/** Scopes of the reference system that ask for claims. */
const ofClaims = [...roleScopes, 'urn:zitadel:iam:user:resourceowner']

/** The organization that a scope names. */
export function organizationOf(scope: string): string | undefined {
  return organizationsOf(wordsOf(scope))[0]
}

/** The scope that names an organization. */
export function scopeOfOrganization(organizationId: string): string {
  return `urn:zitadel:iam:org:id:${organizationId}`
}

/** Of a request to Roster itself: names the organization from which somebody comes. It keeps nobody out. */
export function scopeOfHint(organizationId: string): string {
  return `${hinting}${organizationId}`
}

/** The organization from which somebody comes. */
export function hintedOrganization(scope: string): string | undefined {
  const found = wordsOf(scope).find((one) => one.startsWith(hinting))
  return found !== undefined && /^[\w-]{1,200}$/.test(found.slice(hinting.length))
    ? found.slice(hinting.length)
    : undefined
}

const hinting = 'urn:roster:org:hint:'

/** The only organization that a scope names, if it names one. Undefined where the scope cannot be read, or names several. */
export function readOrganization(scope: string): { organizationId: string | undefined } | undefined {
  const asked = wordsOf(scope)
  const [organizationId, ...others] = organizationsOf(asked)
  const isUnreadable = asked.some((each) => restricting.test(each) && !organization.test(each))
  return !readable.test(scope) || isUnreadable || others.length > 0 ? undefined : { organizationId }
}

function organizationsOf(scopes: string[]): string[] {
  return scopes.flatMap((scope) => organization.exec(scope)?.[1] ?? [])
}

/** Names an organization by its id that is named by its domain. An unknown one has no users, as an unknown id. */
export async function nameById({ grants }: Pick<Context, 'grants'>, text: string, call: Call): Promise<string> {
  const scopes = wordsOf(text)
  const [named, ...others] = scopes.filter((scope) => domain.test(scope))
  // Several are refused, and none of them is looked up.
  if (named === undefined || others.length > 0) return text
  const id = await lookupDomain(grants, domain.exec(named)![1]!, call)
  return scopes.map((scope) => (scope === named ? scopeOfOrganization(id ?? '-') : scope)).join(' ')
}

/** A scope that is asked for and left out. `no-refresh-token`: the application's grant types do not have it. */
export interface LeftOut {
  scope: string
  why: 'no-refresh-token' | 'unknown'
}

/** The scopes of a parameter that an application does not get, and why. Pure. */
export function leftOutScopes(text: string, { grantTypes }: Pick<OidcCopy, 'grantTypes'>): LeftOut[] {
  const mayRefresh = grantTypes.includes(OIDCGrantType.OIDC_GRANT_TYPE_REFRESH_TOKEN)
  return wordsOf(text).flatMap((scope): LeftOut[] => {
    if (scope === 'offline_access') return mayRefresh ? [] : [{ scope, why: 'no-refresh-token' }]
    const isKnown =
      plainScopes.includes(scope) ||
      ofClaims.includes(scope) ||
      organization.test(scope) ||
      provider.test(scope) ||
      scope === itself ||
      scope === providerTokens ||
      projectOf(scope) !== undefined
    return isKnown ? [] : [{ scope, why: 'unknown' }]
  })
}

/**
 * Reads the parameter `scope`. It is a mistake to ask for an audience that the application may not have, for an
 * organization that cannot be read or is not that of the application's settings, or for nothing that is known.
 */
export function readScopes(
  text: string,
  projectId: string,
  { grantTypes, rosterApi, organizationId: fixed }: OidcCopy,
): AskedScopes | Mistake {
  const asked = wordsOf(text)
  const named = readOrganization(text)
  const organizationScope = fixed ?? named?.organizationId
  const projects = asked.flatMap((scope) => projectOf(scope) ?? [])
  const actsInRoster = asked.includes(itself)
  const mayAct = rosterApi && projects.length === 0
  if (!readable.test(text)) return wrong(ParameterRule.PARAMETER_RULE_SCOPE_CHARACTERS)
  if (!named) return wrong(ParameterRule.PARAMETER_RULE_SCOPE_ORGANIZATION, scopeOfOrganization('ID'))
  if ((named.organizationId ?? organizationScope) !== organizationScope)
    return wrong(ParameterRule.PARAMETER_RULE_SCOPE_OTHER_ORGANIZATION)
  if (projects.some((id) => id !== projectId)) return wrong(ParameterRule.PARAMETER_RULE_SCOPE_PROJECT)
  const [idpId, ...otherProviders] = asked.flatMap((scope) => provider.exec(scope)?.[1] ?? [])
  if (otherProviders.length > 0) return wrong(ParameterRule.PARAMETER_RULE_SCOPE_PROVIDER)
  if (actsInRoster && !mayAct) return wrong(ParameterRule.PARAMETER_RULE_SCOPE_ROSTER, itself)
  const leftOut = leftOutScopes(text, { grantTypes }).map(({ scope }) => scope)
  // The way of the sign-in is nothing that an application gets.
  const scopes = asked.filter((scope) => !leftOut.includes(scope) && !provider.test(scope))
  // No scope at all asks for the first use alone.
  if (asked.length > 0 && scopes.length === 0 && idpId === undefined)
    return wrong(ParameterRule.PARAMETER_RULE_SCOPE_UNKNOWN)
  return { scopes, organizationScope, idpId, actsInRoster }
}

function wrong(rule: Rule, ...values: string[]): Mistake {
  return mistake('scope', rule, values, 'invalid_scope')
}
