import { html, type Part } from './html.ts'
import type { Texts } from './texts/texts.ts'

/** A box by which the person stays signed in, where there is one. */
export function keepBox({ keepSignedIn, keepSignedInHint }: Texts, keep: boolean | undefined): Part {
  return (
    keep !== undefined &&
    html`<div class="box">
      <input id="keep" name="keep" type="checkbox" value="on" aria-describedby="keep-hint" ${keep && html`checked`} />
      <label for="keep">${keepSignedIn}</label>
      <p id="keep-hint" class="hint">${keepSignedInHint}</p>
    </div>`
  )
}
