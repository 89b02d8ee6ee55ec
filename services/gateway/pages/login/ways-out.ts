import type { FormPostPage, LeavingPage } from '#gen/roster/users/v1/sign_in_service'
import { apart } from './form.ts'
import { fill, html, type Html } from './html.ts'
import type { Language } from './language/language.ts'
import { checkAction, checkLocation } from './language/location.ts'
import { type Document, frame } from './shell.ts'

/** Leads to the application by itself, and by a link. */
export function leavingPage(language: Language, { location }: LeavingPage): Document {
  const { text } = language
  const content = html`<p>${fill(text.leavingIntro, { host: apart(hostOf(location)) })}</p>
    <p><a href="${checkLocation(location)}">${text.goOn}</a></p>`
  return frame(language, text.leaving, content, { refreshTo: location })
}

/** Posts the answer to the application by itself, and by a button. */
export function formPostPage(language: Language, { action, parameters }: FormPostPage): Document {
  const { text } = language
  const content = html`<p>${fill(text.leavingIntro, { host: apart(hostOf(action)) })}</p>
    ${formTo({ action, parameters }, text.goOn)}`
  return frame(language, text.leaving, content, { leadsElsewhere: true, script: 'document.forms[0].submit()' })
}

/** A form that posts to an application by a button. */
export function formTo({ action, parameters }: FormPostPage, button: string): Html {
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  )
  return html`<form method="post" action="${checkAction(action)}">${fields}<button>${button}</button></form>`
}

/** The host that a URI leads to; of one without a host, its scheme. */
export function hostOf(uri: string): string {
  return URL.parse(uri)?.host || uri.slice(0, uri.indexOf(':'))
}
