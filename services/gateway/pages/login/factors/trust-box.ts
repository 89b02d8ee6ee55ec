import { fill, html, type Part } from '../html.ts'
import type { Texts } from '../texts/texts.ts'

/** A box by which the browser is not asked again for so many days. 0: there is none. */
export function trustBox({ trustBrowser, trustBrowserHint }: Texts, days: number): Part {
  return (
    days > 0 &&
    html`<div class="box">
      <input id="trusts" name="trusts" type="checkbox" value="on" aria-describedby="trusts-hint" />
      <label for="trusts">${fill(trustBrowser, { days })}</label>
      <p id="trusts-hint" class="hint">${trustBrowserHint}</p>
    </div>`
  )
}
