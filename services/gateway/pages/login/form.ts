import type { Destination } from '#gen/roster/users/v1/sign_in_service'
import { withoutUnseen } from '#lib/names/name-faults'
import { fill, html, type Html, type Part } from './html.ts'
import type { Language } from './language/language.ts'

/** What pages with a form have in common. */
export interface Shown {
  language: Language
  requestId: string
  formToken: string
  /** That the page was asked for with. */
  uiLocales: string
  destination?: Destination | undefined
}

/** A form that goes on with the request, at a step of it. Enter presses its first button. */
export function form(
  { requestId, formToken }: Shown,
  step:
    | ''
    | '/account'
    | '/code'
    | '/passkey'
    | '/registration'
    | '/registration/code'
    | '/recovery'
    | '/recovery/code'
    | '/new-password'
    | '/provider'
    | '/invitation'
    | '/decision'
    | '/sign-out',
  content: Part,
): Html {
  return html`<form method="post" action="${addressOf(requestId)}${step}">
    <input type="hidden" name="form_token" value="${formToken}" />
    ${content}
  </form>`
}

/** The path of a page with whose brand it has. */
export function brandedPath(path: string, organizationId: string): string {
  return organizationId === '' ? path : `${path}?organization_id=${encodeURIComponent(organizationId)}`
}

/** The page that comes next has the brand of the same organization. */
export function withBrandOf(organizationId: string): Part {
  return organizationId !== '' && html`<input type="hidden" name="organization_id" value="${organizationId}" />`
}

/** The address of the page of a request. */
export function addressOf(requestId: string): string {
  return `/ui/login/${encodeURIComponent(requestId)}`
}

/** Says which application the page leads to. */
export function destination(shown: Shown): Part {
  const { text } = shown.language
  return (
    shown.destination && html`<p>${fill(isOwn(shown) ? text.signsInTo : text.goesTo, namesOf(shown.destination))}</p>`
  )
}

/** The page leads to the own account, and not to an application. */
export function isOwn({ destination }: Shown): boolean {
  return destination?.applicationName === ''
}

/** The names of an application, as parts of a sentence. Whoever registered it chose the first. */
export function namesOf({ applicationName, host }: Destination): { application: Html; host: Html } {
  return { application: strong(seen(applicationName).trim() === '' ? host : applicationName), host: apart(host) }
}

export function strong(name: string): Html {
  return html`<strong>${apart(name)}</strong>`
}

/** Names of which one serves, such as `Acme or Google`. */
export function oneOf({ tag }: Language, names: readonly string[]): Html {
  const parts = new Intl.ListFormat(tag, { type: 'disjunction' }).formatToParts(names)
  return html`${parts.map(({ type, value }) => (type === 'element' ? strong(value) : value))}`
}

/** A name that comes from others: its letters do not turn the sentence around it. */
export function apart(name: string): Html {
  return html`<bdi>${seen(name)}</bdi>`
}

// Names of former releases may hold anything.
function seen(name: string): string {
  return withoutUnseen('person', name)
}
