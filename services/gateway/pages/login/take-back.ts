import { withBrandOf } from './form.ts'
import { html } from './html.ts'
import type { Language } from './language/language.ts'
import { linkCodeScript } from './link-code.ts'
import { type Document, frame } from './shell.ts'

/**
 * Asks whether a change of address is to be taken back. Only the button does it: scanners of mails open links. What
 * proves it stands behind the # of the link, so where no script enters that, the person enters the link.
 */
export function takeBackPage(language: Language, organizationId: string): Document {
  const { text } = language
  const content = html`<p>${text.takeBackIntro}</p>
    <p>${text.takeBackEnds}</p>
    <form method="post" action="/ui/take-back">
      ${withBrandOf(organizationId)}
      <div id="code-field">
        <label for="code">${text.takeBackLink}</label>
        <input
          id="code"
          name="secret"
          maxlength="3000"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          required
          autofocus
          aria-describedby="code-hint"
        />
        <p id="code-hint" class="hint">${text.takeBackLinkHint}</p>
      </div>
      <button id="open">${text.takeBackButton}</button>
    </form>`
  return frame(language, text.takeBackTitle, content, { script: linkCodeScript })
}
