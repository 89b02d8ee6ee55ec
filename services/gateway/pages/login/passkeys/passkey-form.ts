import { readFileSync } from 'node:fs'
import { type PasskeyPrompt, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { addressOf, type Shown } from '../form.ts'
import { html, type Html } from '../html.ts'
import type { TextKey, Texts } from '../texts/texts.ts'

/** Asks the browser for a passkey. It lies in the page, like the style. */
export const passkeyScript = readFileSync(new URL('../../passkey.js', import.meta.url), 'utf8')

/** The button is of the script, which shows it. */
export function passkeyButton(text: Texts, { isMain = false } = {}): Html {
  return html`<button type="button" ${!isMain && html`class="other"`} id="passkey-button" hidden>
    ${text.signInByPasskey}
  </button>`
}

/**
 * What the script sends, with what it asks the browser for, and the sentences that it says. `isOffered`: among the names;
 * not after a passkey that failed, since a browser that answers by itself would begin a loop.
 */
export function passkeyForm(
  { requestId, formToken, language: { text } }: Shown,
  { options, unknownCredentialId }: PasskeyPrompt,
  { isOffered }: { isOffered: boolean },
): Html {
  return html`<form
    method="post"
    action="${addressOf(requestId)}/passkey"
    id="passkey-form"
    hidden
    data-options="${options}"
    data-unknown="${unknownCredentialId}"
    data-offered="${isOffered && 'offered'}"
    data-stopped="${text.passkeyStopped}"
    data-misplaced="${text.passkeyMisplaced}"
    data-failed="${text.passkeyFailed}"
  >
    <input type="hidden" name="form_token" value="${formToken}" />
    <input type="hidden" name="credential" value="" />
    <input type="hidden" name="keep" value="" />
    <button id="passkey-action" name="action" value="sign-in">${text.signInByPasskey}</button>
  </form>`
}

/** What a page says of a passkey that failed. */
export const passkeyErrors: Partial<Record<SignInError, TextKey>> = {
  [SignInError.SIGN_IN_ERROR_PASSKEY_UNKNOWN]: 'passkeyUnknown',
  [SignInError.SIGN_IN_ERROR_PASSKEY_LATE]: 'passkeyLate',
  [SignInError.SIGN_IN_ERROR_PASSKEY_OTHER_PERSON]: 'passkeyOfOther',
  [SignInError.SIGN_IN_ERROR_PASSKEY_UNVERIFIED]: 'passkeyUnverified',
  [SignInError.SIGN_IN_ERROR_PASSKEY_NOT_ALLOWED]: 'passkeyNotAllowed',
  [SignInError.SIGN_IN_ERROR_PASSKEY_INVALID]: 'passkeyInvalid',
}
