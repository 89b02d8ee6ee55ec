import type { NoticePage, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Parameters } from '../request/parameters.ts'
import { describe, type Mistake } from '../request/mistakes.ts'
import { type Fault, faults } from '../request/read-parameters.ts'

/** An answer without cookie and form. */
export function show(answer: NonNullable<PageAnswer['answer']>): PageAnswer {
  return {
    answer,
    newBrowser: '',
    newBrowserLifetime: 0,
    newTrust: '',
    newTrustLifetime: 0,
    formToken: '',
    requestId: '',
    uiLocales: '',
    destination: undefined,
    brand: undefined,
  }
}

export function redirect(location: string): PageAnswer {
  return show({ $case: 'redirect', value: { location } })
}

/** The way to the page of a request. */
export function toPage(requestId: string): PageAnswer {
  return redirect(`/ui/login/${requestId}`)
}

export function notice(reason: NoticePage['reason'], more: Partial<NoticePage> = {}): PageAnswer {
  return show({ $case: 'notice', value: { ...noNotice, reason, ...more } })
}

const noNotice: Omit<NoticePage, 'reason'> = {
  applicationOrigin: '',
  location: '',
  formPost: undefined,
  clientId: '',
  redirectUri: '',
  nearestRedirectUri: '',
  mistake: undefined,
}

/** What the application gets. */
export type Outcome = { code: string } | { fault: Fault } | { mistake: Mistake }

/** The way back to the application: at once, or from a page, which is shown once more. */
export function answerApplication(
  issuer: string,
  parameters: Parameters,
  outcome: Outcome,
  fromPage: boolean,
): PageAnswer {
  const { redirectUri, responseMode } = parameters
  const pairs = pairsOf(issuer, parameters, outcome)
  if (responseMode === 'form_post')
    return show({ $case: 'formPost', value: { action: redirectUri, parameters: pairs } })
  const location = withAnswer(parameters, pairs)
  return fromPage ? show({ $case: 'leaving', value: { location } }) : redirect(location)
}

/** Where a login application sends the browser with the answer. */
export function callbackUrl(issuer: string, parameters: Parameters, outcome: Outcome): string {
  return withAnswer(parameters, pairsOf(issuer, parameters, outcome))
}

/** A link that tells the application that the person did not want to. None where it wants a POST. */
export function refusalLink(issuer: string, parameters: Parameters): string {
  const pairs = pairsOf(issuer, parameters, { fault: 'access_denied' })
  return parameters.responseMode === 'form_post' ? '' : withAnswer(parameters, pairs)
}

function pairsOf(issuer: string, { state }: Parameters, outcome: Outcome): Record<string, string> {
  return { ...said(outcome), ...(state !== '' && { state }), iss: issuer }
}

function said(outcome: Outcome): Record<string, string> {
  if ('code' in outcome) return { code: outcome.code }
  if ('fault' in outcome) return { error: outcome.fault, error_description: faults[outcome.fault] }
  return { error: outcome.mistake.error, error_description: describe(outcome.mistake) }
}

// No registered URI has a fragment.
function withAnswer({ redirectUri, responseMode }: Parameters, pairs: Record<string, string>): string {
  return responseMode === 'fragment' ? `${redirectUri}#${join(pairs)}` : withQuery(redirectUri, pairs)
}

/** The registered text, and the parameters after it. */
export function withQuery(uri: string, parameters: Record<string, string>): string {
  const pairs = join(parameters)
  if (pairs === '') return uri
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return uri + separator + pairs
}

function join(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}
