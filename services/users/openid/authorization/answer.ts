import type { NoticePage, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Parameters } from '../request/parameters.ts'
import { type Fault, faults } from '../request/read-parameters.ts'

/** An answer without cookie and form. */
export function show(answer: NonNullable<PageAnswer['answer']>): PageAnswer {
  return {
    answer,
    newBrowser: '',
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
  return show({ $case: 'notice', value: { reason, applicationOrigin: '', location: '', ...more } })
}

/** What the application gets. */
export type Outcome = { code: string } | { fault: Fault }

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
  const location = withQuery(redirectUri, pairs)
  return fromPage ? show({ $case: 'leaving', value: { location } }) : redirect(location)
}

/** Where a login application sends the browser with the answer. */
export function callbackUrl(issuer: string, parameters: Parameters, outcome: Outcome): string {
  return withQuery(parameters.redirectUri, pairsOf(issuer, parameters, outcome))
}

/** A link that tells the application that the person did not want to. None where it wants a POST. */
export function refusalLink(issuer: string, parameters: Parameters): string {
  const pairs = pairsOf(issuer, parameters, { fault: 'access_denied' })
  return parameters.responseMode === 'form_post' ? '' : withQuery(parameters.redirectUri, pairs)
}

function pairsOf(issuer: string, { state }: Parameters, outcome: Outcome): Record<string, string> {
  return {
    ...('code' in outcome
      ? { code: outcome.code }
      : { error: errorOf(outcome.fault), error_description: faults[outcome.fault] }),
    ...(state !== '' && { state }),
    iss: issuer,
  }
}

function errorOf(fault: Fault): string {
  return fault === 'hint_unknown' ? 'login_required' : fault
}

/** The registered text, and the parameters after it. */
export function withQuery(uri: string, parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  if (pairs.length === 0) return uri
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&'
  return uri + separator + pairs.join('&')
}
