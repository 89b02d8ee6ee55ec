import { readFileSync } from 'node:fs'
import type { PasskeyPrompt } from '#gen/roster/users/v1/sign_in_service'
import { html, type Html, type Part } from '../html.ts'
import type { Texts } from '../texts/texts.ts'

/** Makes a passkey, and tells the browser which ones there are. It lies in the page, like the style. */
export const newPasskeyScript = readFileSync(new URL('../../passkey-new.js', import.meta.url), 'utf8')

/** What the script fills in and sends. Without it, the page says that none can be added. */
export function newPasskeyForm(
  text: Texts,
  { options }: PasskeyPrompt,
  {
    action,
    sent,
    fault = false,
    more = false,
  }: { action: string; sent: Record<string, string>; fault?: Part; more?: Part },
): Html {
  const form = html`<form
    method="post"
    action="${action}"
    id="passkey-form"
    data-options="${options}"
    data-exists="${text.passkeyExists}"
    data-stopped="${text.passkeyStopped}"
    data-misplaced="${text.passkeyMisplaced}"
    data-failed="${text.passkeyFailed}"
  >
    ${Object.entries(sent)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `)}
    <input type="hidden" name="credential" value="" />
    <label for="name">${text.newPasskeyName}</label>
    <input
      id="name"
      name="name"
      maxlength="200"
      autocomplete="off"
      dir="auto"
      ${fault || html`aria-describedby="name-hint"`}
    />
    <p id="name-hint" class="hint">${text.newPasskeyHint}</p>
    ${more}
    <p id="passkey-status" class="bad" role="alert"></p>
    <button id="passkey-button">${text.newPasskey}</button>
  </form>`
  return html`<noscript><p>${text.passkeyUnable}</p></noscript>
    <p id="passkey-unable" hidden>${text.passkeyUnable}</p>
    <div id="passkey-able" hidden>${form}</div>`
}

/** Makes a passkey in place of a new password. It lies in the page, like the style. */
export const passkeyJoinScript = readFileSync(new URL('../../passkey-join.js', import.meta.url), 'utf8')

/** The button of a form with a new password, which its script shows, and fills the form in its place. */
export function joinByPasskey(
  text: Texts,
  { options }: PasskeyPrompt,
  { label, renewal }: { label: string; renewal: string },
): Html {
  return html`<input type="hidden" name="credential" value="" />
    <p id="passkey-status" class="bad" role="alert"></p>
    <button
      type="button"
      class="other"
      id="passkey-button"
      hidden
      data-options="${options}"
      data-renewal="${renewal}"
      data-exists="${text.passkeyExists}"
      data-stopped="${text.passkeyStopped}"
      data-misplaced="${text.passkeyMisplaced}"
      data-failed="${text.passkeyFailed}"
    >
      ${label}
    </button>`
}
