import type { AccountsPage } from '#gen/roster/users/v1/sign_in_service'
import { apart, destination, form, type Shown, strong } from './form.ts'
import { html } from './html.ts'
import { type Document, frame } from './shell.ts'

/** The people that are signed in, in this browser. */
export function accountsPage(shown: Shown, { accounts }: AccountsPage): Document {
  const { text } = shown.language
  const choices = accounts.map(
    ({ sessionId, displayName, loginName }) =>
      html`<button class="other account" name="session_id" value="${sessionId}">
        ${strong(displayName)} <span class="hint">${apart(loginName)}</span>
      </button> `,
  )
  const content = html`${destination(shown)}
  ${form(shown, '/account', html`${choices}<button class="text" name="session_id" value="">${text.otherAccount}</button>`)}`
  return frame(shown.language, text.chooseAccount, content)
}
