import type { FactorCodePage } from '#gen/roster/users/v1/sign_in_service'
import type { Shown } from '../form.ts'
import { html } from '../html.ts'
import type { Document } from '../shell.ts'
import { faultOf, typedCodePage } from './typed-code.ts'

/** A recovery code in place of a second factor that was lost. */
export function recoveryFactorPage(shown: Shown, page: FactorCodePage): Document {
  const { text } = shown.language
  const field = html`<label for="code">${text.recoveryCode}</label>
    <input
      id="code"
      name="code"
      maxlength="100"
      inputmode="text"
      autocomplete="off"
      autocapitalize="characters"
      spellcheck="false"
      required
      ${faultOf(page)}
      autofocus
    />`
  return typedCodePage(shown, page, {
    factor: 'recovery-code',
    title: text.useRecoveryCode,
    intro: text.recoveryCodeIntro,
    wrong: text.oneTimeCodeWrong,
    field,
  })
}
