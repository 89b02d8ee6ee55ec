import { NoticeReason, ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import type { ApplicationCopy, OidcCopy, ProjectCopy } from '../applications/application-copy.ts'
import { isConsole } from '../applications/console-application.ts'
import type { KnownApplication } from '../applications/find-application.ts'
import { freshFor } from '../../sessions/fresh-for.ts'
import { acrValues, type AskedContext, knownAcr } from '../acr.ts'
import { type Parameters, wordsOf } from './parameters.ts'
import { findMistake } from './find-mistake.ts'
import { type Mistake, mistake } from './mistakes.ts'
import { nearestRedirectUri } from './nearest-redirect-uri.ts'
import { type AskedClaims, mostOfClaims, readClaims } from './read-claims.ts'
import { readScopes } from './read-scopes.ts'
import { isRegistered, mayBeAnybodys } from './redirect-uri.ts'

/** What a request asks for. */
export interface Asked {
  prompts: string[]
  /** In seconds. Of a token for Roster ten minutes at most, whatever is asked for. */
  maxAge: number | undefined
  hintedUser: string | undefined
  organizationScope: string | undefined
  /** The identity provider that people are to sign in by. Missing: the page offers all. */
  idpId?: string | undefined
  scopes: string[]
  claims: string[]
  claimScopes: string[]
  /** The contexts that it asks for. Undefined: none. */
  acr: AskedContext | undefined
  actsInRoster: boolean
  needsClick: boolean
}

/** The application, and where its answer goes. */
export interface RequestedApplication {
  application: ApplicationCopy & { oidc: OidcCopy }
  project: ProjectCopy
}

/** Why an application gets no code for a request without a mistake (RFC 6749, OpenID Connect Core section 3.1.2.6). */
export const faults = {
  login_required: 'Nobody who may be answered for is signed in.',
  account_selection_required: 'Several people are signed in.',
  consent_required: 'The person has to be asked.',
  interaction_required: 'The person has to go on by a page.',
  access_denied: 'The person did not allow it, or may not come.',
  server_error: 'The login application could not go on.',
  unmet_authentication_requirements: 'The person was not authenticated as the application requires.',
  temporarily_unavailable: 'There were too many requests of this kind.',
} as const

export type Fault = keyof typeof faults

/** Why no application gets an answer; or the application, and what it asks for, or what is wrong with that. */
export type Reading = Unanswerable | (RequestedApplication & ({ mistake: Mistake } | { asked: Asked }))

export interface Unanswerable {
  notice: NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN | NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID
  /** A registered URI that is much like the one that was sent. */
  nearest?: string | undefined
}

/** Judges the parameters by what is known of the application now. Pure. */
export function readParameters(parameters: Parameters, known: KnownApplication | undefined): Reading {
  const { repeatedParameters: repeated, redirectUri } = parameters
  if (repeated.includes('client_id') || !known?.application.isOpen || !known.project.isOpen || !known.application.oidc)
    return { notice: NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN }
  const { application, project } = known
  const { oidc } = known.application
  if (repeated.includes('redirect_uri') || !isRegistered(redirectUri, oidc)) {
    const nearest = nearestRedirectUri(redirectUri, oidc)
    return { notice: NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID, nearest }
  }
  const requested = { application: { ...application, oidc }, project }
  const read = readRest(parameters, requested)
  return 'rule' in read ? { ...requested, mistake: read } : { ...requested, asked: read }
}

function readRest(parameters: Parameters, { application, project }: RequestedApplication): Mistake | Asked {
  const { oidc } = application
  const wrong = findMistake(parameters, oidc)
  if (wrong) return wrong
  const claims = readClaims(parameters.claims)
  if (!claims) return mistake('claims', ParameterRule.PARAMETER_RULE_CLAIMS, mostOfClaims.map(String))
  // A request that a former release stored has none.
  if (parameters.resource || parameters.repeatedParameters.includes('resource'))
    return mistake('resource', ParameterRule.PARAMETER_RULE_LEFT_OUT, [], 'invalid_target')
  const scopes = readScopes(parameters.scope, project.id, oidc)
  if ('rule' in scopes) return scopes
  const acr = readContext(parameters, claims.acr)
  if (acr?.isEssential && acr.values.length === 0)
    return mistake('claims', ParameterRule.PARAMETER_RULE_ACR, [...acrValues], 'unmet_authentication_requirements')
  return {
    prompts: wordsOf(parameters.prompt),
    maxAge: maxAgeOf(parameters, scopes.actsInRoster && !isConsole(application)),
    hintedUser: claims.hintedUser,
    ...scopes,
    claims: claims.claims,
    claimScopes: claims.scopes,
    acr,
    needsClick: mayBeAnybodys(parameters.redirectUri, oidc),
  }
}

// Who finds an open browser could else have a token for Roster by an application of their own machine, and do what the
// console asks for a factor before. What comes of the console has no such token.
function maxAgeOf({ maxAge }: Parameters, isForRoster: boolean): number | undefined {
  const asked = maxAge === '' ? undefined : Number(maxAge)
  return isForRoster ? Math.min(asked ?? Infinity, freshFor) : asked
}

// What `claims` says counts in place of `acr_values`, whose values are voluntary. Those that nobody knows are passed over. A
// request that a former release stored has none.
function readContext(
  { acrValues: text = '' }: Partial<Parameters>,
  ofClaims: AskedClaims['acr'],
): AskedContext | undefined {
  const { values, isEssential } = ofClaims ?? { values: wordsOf(text), isEssential: false }
  const known = knownAcr(values)
  return known.length > 0 || isEssential ? { values: known, isEssential } : undefined
}
