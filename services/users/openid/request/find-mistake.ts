import { OIDCAppType, OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import type { OidcCopy } from '../applications/application-copy.ts'
import { type Mistake, mistake } from './mistakes.ts'
import { type Parameters, wordsOf } from './parameters.ts'

const {
  PARAMETER_RULE_ONCE: once,
  PARAMETER_RULE_ONE_OF: oneOf,
  PARAMETER_RULE_WORDS: words,
  PARAMETER_RULE_ALONE: alone,
  PARAMETER_RULE_LEFT_OUT: leftOut,
  PARAMETER_RULE_LENGTH: length,
  PARAMETER_RULE_SECONDS: seconds,
  PARAMETER_RULE_HASH: hash,
  PARAMETER_RULE_REQUIRED: required,
  PARAMETER_RULE_REQUIRED_OR_NONCE: requiredOrNonce,
  PARAMETER_RULE_REQUIRED_BESIDE: requiredBeside,
} = ParameterRule

/** What a request may say in `prompt`. */
export const prompts = ['none', 'login', 'consent', 'select_account', 'create']
const mostOfNonce = 1024

/** The first mistake in the parameters, but for those that ask for claims, scopes and resources. */
export function findMistake(parameters: Parameters, oidc: OidcCopy): Mistake | undefined {
  const { request, requestUri, responseType, responseMode, nonce, maxAge, dpopJkt } = parameters
  // A resource alone may come several times (RFC 8707 section 2).
  const [repeated] = parameters.repeatedParameters.filter((name) => name !== 'resource')
  if (repeated !== undefined) return mistake(repeated, once)
  if (responseType === '') return mistake('response_type', oneOf, ['code'])
  if (request !== '') return mistake('request', leftOut, [], 'request_not_supported')
  if (requestUri !== '') return mistake('request_uri', leftOut, [], 'request_uri_not_supported')
  if (responseType !== 'code') return mistake('response_type', oneOf, ['code'], 'unsupported_response_type')
  const modes = responseModesOf(parameters, oidc)
  if (!['', ...modes].includes(responseMode)) return mistake('response_mode', oneOf, modes)
  if ([...nonce].length > mostOfNonce) return mistake('nonce', length, [String(mostOfNonce)])
  const wrong = findInChallenge(parameters, oidc) ?? findInPrompt(wordsOf(parameters.prompt))
  if (wrong) return wrong
  if (!/^(\d{1,9})?$/.test(maxAge)) return mistake('max_age', seconds)
  return /^([\w-]{43})?$/.test(dpopJkt) ? undefined : mistake('dpop_jkt', hash)
}

/** The ways in which an application may have its answer. */
export function responseModesOf(
  { redirectUri }: Pick<Parameters, 'redirectUri'>,
  { loginBaseUri }: OidcCopy,
): string[] {
  // A login application sends the browser to an address, and has no page that posts; a scheme of its own takes no form.
  const mayPost = loginBaseUri === undefined && /^https?:/.test(redirectUri)
  return mayPost ? ['query', 'fragment', 'form_post'] : ['query', 'fragment']
}

// PKCE (RFC 7636), S256 alone. A nonce in the ID token tells an application, too, that a code is none of its request. One
// that does not prove who it is needs the challenge: with the code alone anybody could get its tokens (OAuth 2.1, 7.5).
function findInChallenge(parameters: Parameters, oidc: OidcCopy): Mistake | undefined {
  const { codeChallenge, codeChallengeMethod, nonce, scope } = parameters
  if (codeChallenge !== '') {
    if (codeChallengeMethod !== 'S256') return mistake('code_challenge_method', oneOf, ['S256'])
    return /^[\w-]{43}$/.test(codeChallenge) ? undefined : mistake('code_challenge', hash)
  }
  if (codeChallengeMethod !== '') return mistake('code_challenge', requiredBeside, ['code_challenge_method'])
  const isConfidential =
    oidc.appType === OIDCAppType.OIDC_APP_TYPE_WEB &&
    oidc.authMethodType !== OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  if (!isConfidential) return mistake('code_challenge', required)
  const hasNonce = nonce !== '' && wordsOf(scope).includes('openid')
  return hasNonce || oidc.allowMissingPkce ? undefined : mistake('code_challenge', requiredOrNonce)
}

function findInPrompt(asked: string[]): Mistake | undefined {
  if (!asked.every((prompt) => prompts.includes(prompt))) return mistake('prompt', words, prompts)
  return asked.includes('none') && asked.length > 1 ? mistake('prompt', alone, ['none']) : undefined
}
