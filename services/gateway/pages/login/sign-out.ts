import type { SignOutPage } from '#gen/roster/users/v1/sign_in_service'
import { factsOf } from './facts.ts'
import { apart, destination, form, type Shown, strong } from './form.ts'
import { fill, html } from './html.ts'
import { type Document, frame } from './shell.ts'

/** Who may be signed out. */
export function signOutPage(
  shown: Shown,
  page: SignOutPage,
  /** Of the request for the page. */
  requestId: string,
): Document {
  const { accounts, offersAll, uriUnregistered, applicationUnknown } = page
  const { text } = shown.language
  const choices = accounts.map(
    ({ sessionId, displayName, loginName }) =>
      html`<button class="other account" name="session_id" value="${sessionId}">
        ${fill(text.signOutAccount, { account: strong(displayName) })} <span class="hint">${apart(loginName)}</span>
      </button> `,
  )
  const buttons = html`${choices}
    ${offersAll && html`<button class="other" name="action" value="all">${text.signOutAll}</button>`}
    <button class="text" name="action" value="stay">${text.staySignedIn}</button>`
  const stays = applicationUnknown ? text.signOutUnknown : text.signOutNowhere
  const content = html`${destination(shown)} ${uriUnregistered && html`<p>${stays}</p>`}
    <p>${text.signOutIntro}</p>
    ${form(shown, '/sign-out', buttons)} ${factsOf(shown.language, page, requestId)}`
  return frame(shown.language, text.signOut, content)
}
