import {
  CodeError,
  type FactorCodePage,
  type TOTPSecret,
  type TOTPSetUpPage,
} from '#gen/roster/users/v1/sign_in_service'
import { destination, form, type Shown, strong } from '../form.ts'
import { fill, html, type Html, type Part } from '../html.ts'
import type { Language } from '../language/language.ts'
import { qrCode } from '../qr-code.ts'
import { type Document, frame } from '../shell.ts'
import { problems } from './otp-email.ts'
import { faultOf, typedCodePage } from './typed-code.ts'
import { waysOut } from './ways-out.ts'

/** The code of an authenticator app as a second factor. */
export function totpPage(shown: Shown, page: FactorCodePage): Document {
  const { text } = shown.language
  return typedCodePage(shown, page, {
    factor: 'totp',
    title: text.confirmByApp,
    intro: text.appCodeIntro,
    wrong: text.appCodeWrong,
    field: totpField(shown.language, page),
  })
}

/** An administrator helps: nothing is set up here. */
const deadEnds: CodeError[] = [
  CodeError.CODE_ERROR_NOT_SET_UP,
  CodeError.CODE_ERROR_PASSWORD_BY_MAIL,
  CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL,
]

/** An authenticator app that is set up in a sign-in. */
export function totpSetUpPage(shown: Shown, { loginName, secret, error, ways }: TOTPSetUpPage): Document {
  const { language } = shown
  const { text } = language
  const isDeadEnd = deadEnds.includes(error)
  const title = isDeadEnd ? text.noCode : text.setUpApp
  const key = error === CodeError.CODE_ERROR_WRONG ? 'appCodeWrong' : problems[error]
  const step = secret
    ? html`${secretPart(language, secret)} ${totpField(language, { error })}
        <button name="action" value="confirm">${text.goOn}</button>`
    : html`<button name="action" value="set-up">${text.setUpApp}</button>`
  const content = html`${!isDeadEnd && destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(loginName) })} ${!isDeadEnd && text.setUpDemanded}</p>
    ${key && html`<p id="status" class="bad" role="alert">${text[key]}</p>`}
    ${form(shown, '/code', html`${!isDeadEnd && step} ${waysOut(shown, { ways, isMain: isDeadEnd })}`)}`
  return frame(language, title, content, key && !isDeadEnd ? { windowTitle: fill(text.problem, { title }) } : {})
}

/** The secret, as a picture for a phone and as a text for an app beside the browser. */
export function secretPart({ text }: Language, { uri, text: secret }: TOTPSecret): Html {
  return html`<p>${text.scanCode}</p>
    ${qrCode(uri, text.qrCode)}
    <p class="hint">${text.typeSecret}</p>
    <p><code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>`
}

/** The field of a code of six digits. */
export function totpField({ text }: Language, page: { error: CodeError }): Part {
  return html`<label for="code">${text.appCode}</label>
    <input
      id="code"
      name="code"
      class="code"
      maxlength="20"
      inputmode="numeric"
      autocomplete="one-time-code"
      spellcheck="false"
      required
      ${faultOf(page)}
      autofocus
    />`
}
