import { readFileSync } from 'node:fs'
import type { PasskeyOfferPage, PasskeyPrompt } from '#gen/roster/users/v1/sign_in_service'
import { addressOf, destination, type Shown, strong } from '../form.ts'
import { fill, html, type Html } from '../html.ts'
import { type Document, frame } from '../shell.ts'

/** Makes the passkey that is offered. It lies in the page, like the style. */
const offerScript = readFileSync(new URL('../../passkey-offer.js', import.meta.url), 'utf8')

/** Of the first page: says what the browser can do. */
export const ableScript = readFileSync(new URL('../../passkey-able.js', import.meta.url), 'utf8')

/**
 * A passkey that a person may make after a sign-in, or that the browser makes by itself. The page of the request goes on with
 * the sign-in, also without script.
 */
export function passkeyOfferPage(shown: Shown, { loginName, passkey, conditional }: PasskeyOfferPage): Document {
  const { language } = shown
  const { text } = language
  if (passkey && !conditional) {
    const content = html`<p>${text.passkeyOfferHint}</p>
      ${offerForm(shown, passkey, false)}
      <p id="passkey-status" class="bad" role="alert"></p>
      <button type="button" id="passkey-button" hidden>${text.passkeyOfferMake}</button>
      ${goOn(shown, text.passkeyOfferNotNow, true)}`
    return frame(language, text.passkeyOffer, content, { script: offerScript })
  }
  const content = html`${destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(loginName) })}</p>
    ${passkey ? offerForm(shown, passkey, true) : html`<p class="bad" role="alert">${text.passkeyOfferFailed}</p>`}
    ${goOn(shown, text.passkeyOfferGoOn, false)}`
  return frame(language, passkey ? text.passkeyOfferWait : text.passkeyNotAdded, content, { script: offerScript })
}

function goOn({ requestId }: Shown, label: string, isAside: boolean): Html {
  return html`<form id="go-on" method="get" action="${addressOf(requestId)}">
    <button ${isAside && html`class="text"`}>${label}</button>
  </form>`
}

function offerForm(
  { requestId, formToken, language: { text } }: Shown,
  { options }: PasskeyPrompt,
  conditional: boolean,
): Html {
  return html`<form
    method="post"
    action="${addressOf(requestId)}/passkey"
    id="passkey-form"
    hidden
    data-options="${options}"
    data-conditional="${conditional && 'conditional'}"
    data-exists="${text.passkeyExists}"
    data-stopped="${text.passkeyOfferStopped}"
    data-misplaced="${text.passkeyMisplaced}"
    data-failed="${text.passkeyOfferStopped}"
  >
    <input type="hidden" name="form_token" value="${formToken}" />
    <input type="hidden" name="credential" value="" />
    <button id="passkey-action" name="action" value="add">${text.passkeyOfferMake}</button>
  </form>`
}
