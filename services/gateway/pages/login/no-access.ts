import type { NoAccessPage } from '#gen/roster/users/v1/sign_in_service'
import { apart, form, isOwn, namesOf, type Shown, strong } from './form.ts'
import { fill, html } from './html.ts'
import { type Document, frame } from './shell.ts'

/** People are signed in, and the application lets none of them in. */
export function noAccessPage(shown: Shown, { accounts }: NoAccessPage): Document {
  const { language, destination } = shown
  const { text } = language
  const names = accounts.map(
    ({ displayName, loginName }, index) => html`${index > 0 && ', '}${strong(displayName)} (${apart(loginName)})`,
  )
  const intro = fill(text.noAccessIntro, {
    ...namesOf(destination ?? { applicationName: '', host: '' }),
    account: html`${names}`,
  })
  const buttons = html`<button name="action" value="another-account">${text.otherAccount}</button>
    ${!isOwn(shown) && html`<button class="text" name="action" value="cancel">${text.cancel}</button>`}`
  return frame(
    language,
    text.noAccess,
    html`<p id="status" role="alert">${intro}</p>
      ${form(shown, '', buttons)}`,
  )
}
