import type { TakeBackPage } from '#gen/roster/users/v1/sign_in_service'
import { apart } from './form.ts'
import { fill, html } from './html.ts'
import type { Language } from './language.ts'
import { type Document, frame } from './shell.ts'

/** Asks whether a change of address is to be taken back. Only the button does it: scanners of mails open links. */
export function takeBackPage(language: Language, { secret, email }: TakeBackPage): Document {
  const { text } = language
  const content = html`<p>${fill(text.takeBackIntro, { email: apart(email) })}</p>
    <p>${text.takeBackEnds}</p>
    <form method="post" action="/ui/take-back">
      <input type="hidden" name="secret" value="${secret}" />
      <button>${text.takeBackButton}</button>
    </form>`
  return frame(language, text.takeBackTitle, content)
}
