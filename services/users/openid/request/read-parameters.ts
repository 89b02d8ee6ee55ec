import { OIDCAppType, OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { NoticeReason } from '#gen/roster/users/v1/sign_in_service'
import type { ApplicationCopy, OidcCopy, ProjectCopy } from '../applications/application-copy.ts'
import type { KnownApplication } from '../applications/find-application.ts'
import { acr } from '../judge/judge.ts'
import { type Parameters, wordsOf } from './parameters.ts'
import { readClaims } from './read-claims.ts'
import { readScopes } from './read-scopes.ts'
import { isRegistered, mayBeAnybodys } from './redirect-uri.ts'

/** What a request asks for. */
export interface Asked {
  prompts: string[]
  maxAge: number | undefined
  hintedUser: string | undefined
  organizationScope: string | undefined
  scopes: string[]
  claims: string[]
  claimScopes: string[]
  actsInRoster: boolean
  needsClick: boolean
}

/** The application, and where its answer goes. */
export interface RequestedApplication {
  application: ApplicationCopy & { oidc: OidcCopy }
  project: ProjectCopy
}

/** Errors that applications get (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). */
export const faults = {
  invalid_request: 'A parameter is missing, comes twice or cannot be read.',
  request_not_supported: 'The parameter request is not supported.',
  request_uri_not_supported: 'The parameter request_uri is not supported.',
  unsupported_response_type: 'The response type must be code.',
  invalid_scope: 'The application may not have one of these scopes.',
  invalid_target: 'The parameter resource is not supported.',
  unmet_authentication_requirements: 'Nobody can sign in as the application demands.',
  login_required: 'Nobody who may be answered for is signed in.',
  /** Applications get it as `login_required`. */
  hint_unknown: 'The ID token that came as a hint is none that this application has from this issuer.',
  account_selection_required: 'Several people are signed in.',
  consent_required: 'The person has to be asked.',
  interaction_required: 'The person has to go on by a page.',
  access_denied: 'The person did not allow it, or may not come.',
  server_error: 'The login application could not go on.',
  temporarily_unavailable: 'There were too many requests of this kind.',
} as const

export type Fault = keyof typeof faults

/** Why no application gets an answer; or the application, and what it asks for, or what is wrong with that. */
export type Reading = { notice: NoticeReason } | (RequestedApplication & ({ fault: Fault } | { asked: Asked }))

/** Judges the parameters by what is known of the application now. Pure. */
export function readParameters(parameters: Parameters, known: KnownApplication | undefined): Reading {
  const { repeatedParameters: repeated, redirectUri } = parameters
  if (repeated.includes('client_id') || !known?.application.isOpen || !known.project.isOpen || !known.application.oidc)
    return { notice: NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN }
  const { application, project } = known
  const { oidc } = known.application
  if (repeated.includes('redirect_uri') || !isRegistered(redirectUri, oidc))
    return { notice: NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID }
  const requested = { application: { ...application, oidc }, project }
  const read = readRest(parameters, requested)
  return typeof read === 'string' ? { ...requested, fault: read } : { ...requested, asked: read }
}

/** What a request may say in `prompt`. */
export const prompts = ['none', 'login', 'consent', 'select_account', 'create']

function readRest(parameters: Parameters, { application, project }: RequestedApplication): Fault | Asked {
  const { oidc } = application
  const { request, requestUri, responseType, responseMode, nonce, dpopJkt } = parameters
  // A resource alone may come several times (RFC 8707 section 2).
  const repeated = parameters.repeatedParameters.filter((name) => name !== 'resource')
  if (repeated.length > 0 || responseType === '') return 'invalid_request'
  if (request !== '') return 'request_not_supported'
  if (requestUri !== '') return 'request_uri_not_supported'
  if (responseType !== 'code') return 'unsupported_response_type'
  const asked = wordsOf(parameters.prompt)
  const isWrong =
    !['', ...responseModesOf(oidc)].includes(responseMode) ||
    [...nonce].length > 1024 ||
    !isChallengeRight(parameters, oidc) ||
    !/^(\d{1,9})?$/.test(parameters.maxAge) ||
    !/^([\w-]{43})?$/.test(dpopJkt) ||
    !asked.every((prompt) => prompts.includes(prompt)) ||
    (asked.includes('none') && asked.length > 1)
  const claims = readClaims(parameters.claims)
  if (isWrong || !claims) return 'invalid_request'
  // A request that a former release stored has none.
  if (parameters.resource || parameters.repeatedParameters.includes('resource')) return 'invalid_target'
  const scopes = readScopes(parameters.scope, project.id, oidc)
  if (!scopes) return 'invalid_scope'
  if (claims.acrValues && !claims.acrValues.includes(acr)) return 'unmet_authentication_requirements'
  return {
    prompts: asked,
    maxAge: parameters.maxAge === '' ? undefined : Number(parameters.maxAge),
    hintedUser: claims.hintedUser,
    ...scopes,
    claims: claims.claims,
    claimScopes: claims.scopes,
    needsClick: mayBeAnybodys(parameters.redirectUri, oidc),
  }
}

/** The ways in which an application may have its answer. */
export function responseModesOf({ loginBaseUri }: OidcCopy): string[] {
  // A login application sends the browser to an address, and has no page that posts.
  return loginBaseUri === undefined ? ['query', 'form_post'] : ['query']
}

// PKCE (RFC 7636), S256 alone.
function isChallengeRight({ codeChallenge, codeChallengeMethod }: Parameters, oidc: OidcCopy): boolean {
  if (codeChallenge !== '') return codeChallengeMethod === 'S256' && /^[\w-]{43}$/.test(codeChallenge)
  const isConfidential =
    oidc.appType === OIDCAppType.OIDC_APP_TYPE_WEB &&
    oidc.authMethodType !== OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  return codeChallengeMethod === '' && oidc.allowMissingPkce && isConfidential
}
