import { CodeError, type MailedCodePage } from '#gen/roster/users/v1/sign_in_service'
import { problems } from './factors/otp-email.ts'
import { destination, form, isOwn, type Shown, strong } from './form.ts'
import { fill, html, type Part } from './html.ts'
import { keepBox } from './keep-box.ts'
import { duration } from './language/language.ts'
import { type Document, frame } from './shell.ts'

/** The code that signs in without a password. It was mailed, if somebody has the name: the page does not say. */
export function mailedCodePage(shown: Shown, page: MailedCodePage): Document {
  const { language } = shown
  const { text } = language
  const { loginName, nameIsFixed, error, retryAfter } = page
  const isOver = error === CodeError.CODE_ERROR_OVER
  const key = problems[error]
  const message = key && fill(text[key], { wait: duration(language, retryAfter) })
  const content = html`${destination(shown)}
    <p>${fill(text.signInCodeSent, { account: strong(loginName) })}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    ${form(
      shown,
      '',
      html`<input type="hidden" name="login_name" value="${loginName}" />
        ${isOver ? html`<button name="action" value="mail-code">${text.mailOtherCode}</button>` : codeField(shown, page)}
        <button class="text" name="action" value="${nameIsFixed ? 'another-account' : 'other-name'}" formnovalidate>
          ${nameIsFixed ? text.otherAccount : text.otherName}
        </button>
        ${!isOwn(shown) && html`<button class="text" name="action" value="cancel" formnovalidate>${text.cancel}</button>`}`,
    )}`
  return frame(
    language,
    text.signInByCode,
    content,
    message ? { windowTitle: fill(text.problem, { title: text.signInByCode }) } : {},
  )
}

function codeField({ language: { text } }: Shown, { error, keep }: MailedCodePage): Part {
  const isWrong = error === CodeError.CODE_ERROR_WRONG
  return html`<label for="code">${text.mailedCode}</label>
    <input
      id="code"
      name="code"
      class="code"
      maxlength="20"
      inputmode="text"
      autocomplete="one-time-code"
      autocapitalize="characters"
      spellcheck="false"
      required
      aria-describedby="code-hint${isWrong && ' status'}"
      ${isWrong && html`aria-invalid="true"`}
      autofocus
    />
    <p id="code-hint" class="hint">${text.codeHint}</p>
    ${keepBox(text, keep)}
    <button name="action" value="check-code">${text.signIn}</button>
    <button class="text" name="action" value="mail-code" formnovalidate>${text.mailOtherCode}</button>`
}
