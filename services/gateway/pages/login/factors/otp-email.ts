import { CodeError, type CodePage } from '#gen/roster/users/v1/sign_in_service'
import { destination, form, type Shown, strong } from '../form.ts'
import { fill, html, type Part } from '../html.ts'
import { duration } from '../language/language.ts'
import { type Document, frame } from '../shell.ts'
import type { TextKey } from '../texts/texts.ts'
import { trustBox } from './trust-box.ts'
import { waysOut } from './ways-out.ts'

/** What a page says of a code before. */
export const problems: Record<CodeError, TextKey | undefined> = {
  [CodeError.CODE_ERROR_UNSPECIFIED]: undefined,
  [CodeError.CODE_ERROR_WRONG]: 'codeWrong',
  [CodeError.CODE_ERROR_OVER]: 'codeOver',
  [CodeError.CODE_ERROR_THROTTLED]: 'throttled',
  [CodeError.CODE_ERROR_MAILS_THROTTLED]: 'mailsThrottled',
  [CodeError.CODE_ERROR_NOT_VERIFIED]: 'addressNotVerified',
  [CodeError.CODE_ERROR_PASSWORD_BY_MAIL]: 'passwordByMail',
  [CodeError.CODE_ERROR_LOCKED]: 'factorLocked',
  [CodeError.CODE_ERROR_NOT_SET_UP]: 'factorNotSetUp',
  [CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL]: 'signedInByMail',
  [CodeError.UNRECOGNIZED]: undefined,
}

const deadEnds: CodeError[] = [
  CodeError.CODE_ERROR_NOT_VERIFIED,
  CodeError.CODE_ERROR_PASSWORD_BY_MAIL,
  CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL,
]
// Whatever was mailed before, it counts no more.
const withoutField: CodeError[] = [...deadEnds, CodeError.CODE_ERROR_OVER]

/** A code by mail as a second factor: a button that mails it, then its field. */
export function otpEmailPage(shown: Shown, page: CodePage): Document {
  const { language } = shown
  const { text } = language
  const isDeadEnd = deadEnds.includes(page.error)
  const title = isDeadEnd ? text.noCode : text.confirmByCode
  const key = problems[page.error]
  const message = key && fill(text[key], { wait: duration(language, page.retryAfter) })
  const isLocked = page.error === CodeError.CODE_ERROR_LOCKED
  const isAsked = page.isSent && !isLocked && !withoutField.includes(page.error)
  const intro =
    !isDeadEnd && !isLocked && fill(isAsked ? text.codeSent : text.codeNotSent, { email: strong(page.email) })
  const content = html`${!isDeadEnd && destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(page.loginName) })} ${intro}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    ${form(
      shown,
      '/code',
      html`${isAsked && codeField(shown, page)}
      ${!isDeadEnd && !isLocked && !isAsked && html`<button name="action" value="send">${text.mailCode}</button>`}
      ${waysOut(shown, { ...page, isMain: isDeadEnd || isLocked })}`,
    )}`
  return frame(language, title, content, message && !isDeadEnd ? { windowTitle: fill(text.problem, { title }) } : {})
}

function codeField({ language: { text } }: Shown, { error, trustDays }: CodePage): Part {
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
      aria-describedby="code-hint${problems[error] && ' status'}"
      ${isWrong && html`aria-invalid="true"`}
      autofocus
    />
    <p id="code-hint" class="hint">${text.codeHint}</p>
    ${trustBox(text, trustDays)}
    <button name="action" value="check">${text.goOn}</button>
    <button class="text" name="action" value="send" formnovalidate>${text.mailOtherCode}</button>`
}
