import type { AuthorizeRequest, EndSessionRequest } from '#gen/roster/users/v1/sign_in_service'

/** The parameters of an authorization request as they came, and the names of those that came twice. They never change. */
export type Parameters = Pick<AuthorizeRequest, (typeof names)[number] | 'repeatedParameters'> & {
  /** Of a request for the own account that accepts an invitation, whose code was right. */
  invitation?: {
    /** Of the invitation, or of the invited user. */
    id: string
    ofUser?: true
    organizationId: string
    codeId: string
  }
}

const names = [
  'clientId',
  'redirectUri',
  'responseType',
  'responseMode',
  'scope',
  'state',
  'nonce',
  'codeChallenge',
  'codeChallengeMethod',
  'prompt',
  'maxAge',
  'loginHint',
  'idTokenHint',
  'uiLocales',
  'claims',
  'acrValues',
  'request',
  'requestUri',
  'dpopJkt',
  'resource',
] as const

/** The same of a request to sign out. A former release stored no names of what came twice. */
export type SignOutParameters = Pick<EndSessionRequest, (typeof signOutNames)[number]> & {
  repeatedParameters?: string[]
}

const signOutNames = ['idTokenHint', 'logoutHint', 'clientId', 'postLogoutRedirectUri', 'state', 'uiLocales'] as const

const most = 16_384
const mostState = 8192

export function parametersOf(request: AuthorizeRequest): Parameters {
  const { repeatedParameters } = request
  return { ...Object.fromEntries(names.map((name) => [name, request[name]])), repeatedParameters } as Parameters
}

export function signOutParametersOf(request: EndSessionRequest): SignOutParameters {
  const { repeatedParameters } = request
  return {
    ...Object.fromEntries(signOutNames.map((name) => [name, request[name]])),
    repeatedParameters,
  } as SignOutParameters
}

/** What is kept of a request, until it is answered. */
export type KeptParameters = Parameters | SignOutParameters

/** What a request is for. A row of one kind is unknown to the pages of another. */
export function isSignOut(parameters: KeptParameters): parameters is SignOutParameters {
  return 'postLogoutRedirectUri' in parameters
}

export function isSignIn(parameters: KeptParameters): parameters is Parameters {
  return !isSignOut(parameters)
}

/**
 * Of a request that leads to the own account. No application made it, and none gets a code for it. Its `state` is the page
 * that it leads to.
 */
export function ownAccountParameters({
  scope = '',
  ...own
}: Pick<Parameters, 'prompt' | 'uiLocales' | 'maxAge' | 'state'> & { scope?: string }): Parameters {
  const none = Object.fromEntries(names.map((name) => [name, '']))
  const { prompt, uiLocales, maxAge, state } = own
  return { ...none, repeatedParameters: [], scope, prompt, uiLocales, maxAge, state } as unknown as Parameters
}

/** Authorize begins no request without a client. */
export function isForOwnAccount({ clientId }: Parameters): boolean {
  return clientId === ''
}

/** Whether they are larger than is kept: they are not answered. */
export function areTooLarge(parameters: KeptParameters): boolean {
  const texts = Object.values(parameters).filter((value) => typeof value === 'string')
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return size > most || [...parameters.state].length > mostState
}

/** The words of a parameter that has several. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.split(' ').filter(Boolean))]
}

/** Whether the application wants an answer without a page. */
export function isSilent({ prompt }: Parameters): boolean {
  return wordsOf(prompt).includes('none')
}
