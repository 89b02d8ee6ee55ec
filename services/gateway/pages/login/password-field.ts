import { readFileSync } from 'node:fs'
import { html, type Html, type Part } from './html.ts'
import type { Texts } from './texts/texts.ts'

/** Shows what was typed, and says how good a new password is. It lies in the page, like the style. */
export const passwordScript = readFileSync(new URL('../password-field.js', import.meta.url), 'utf8')

/**
 * The input of a password, and a button that shows it. Without script there is no button. Its name is its text alone: by
 * "Password" the tests of applications find the input.
 */
export function withShowButton({ show }: Texts, input: Html): Html {
  return html`<div class="shown-by-button">
    ${input}
    <button type="button" class="show" aria-controls="password" aria-pressed="false" hidden>${show}</button>
  </div>`
}

/** Says what a new password needs, and with a script what the typed one lacks. */
export function passwordHint(text: Texts, hint: Part): Html {
  return html`<p
    id="password-hint"
    class="hint"
    aria-live="polite"
    data-hint-of="password"
    data-short="${text.passwordShort}"
    data-plain="${text.passwordPlain}"
    data-enough="${text.passwordEnough}"
    data-good="${text.passwordGood}"
  >
    ${hint}
  </p>`
}
