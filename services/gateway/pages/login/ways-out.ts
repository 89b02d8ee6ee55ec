import type { FormPostPage, LeavingPage } from '#gen/roster/users/v1/sign_in_service'
import { apart } from './form.ts'
import { fill, html } from './html.ts'
import type { Language } from './language.ts'
import { checkAction, checkLocation } from './location.ts'
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
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  )
  const content = html`<p>${fill(text.leavingIntro, { host: apart(hostOf(action)) })}</p>
    <form method="post" action="${checkAction(action)}">${fields}<button>${text.goOn}</button></form>`
  return frame(language, text.leaving, content, { script: 'document.forms[0].submit()' })
}

/** The host that a URI leads to; of one without a host, its scheme. */
export function hostOf(uri: string): string {
  return URL.parse(uri)?.host || uri.slice(0, uri.indexOf(':'))
}
