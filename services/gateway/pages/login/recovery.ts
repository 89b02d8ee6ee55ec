import { readFileSync } from 'node:fs'
import {
  type RecoveryCodePage,
  RecoveryError as Reason,
  type RecoveryPage,
  type RecoveryPasskeyPage,
} from '#gen/roster/users/v1/sign_in_service'
import { addressOf, destination, form, oneOf, type Shown, strong } from './form.ts'
import { fill, html, type Part } from './html.ts'
import { keepBox } from './keep-box.ts'
import { duration, type Language } from './language/language.ts'
import { newPasskeyForm, newPasskeyScript } from './passkeys/new-passkey.ts'
import { passwordHint, passwordScript, withShowButton } from './password-field.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey } from './texts/texts.ts'

const problems: Partial<Record<Reason, TextKey>> = {
  [Reason.RECOVERY_ERROR_CODE_WRONG]: 'recoveryCodeWrong',
  [Reason.RECOVERY_ERROR_PASSWORD_INVALID]: 'passwordInvalid',
  [Reason.RECOVERY_ERROR_PASSWORD_TOO_COMMON]: 'passwordTooCommon',
  [Reason.RECOVERY_ERROR_THROTTLED]: 'throttled',
  [Reason.RECOVERY_ERROR_NO_SECOND_FACTOR]: 'recoverNoSecondFactor',
  [Reason.RECOVERY_ERROR_PASSKEY_NOT_ALLOWED]: 'passkeyNotAllowed',
  [Reason.RECOVERY_ERROR_PASSKEY_LATE]: 'passkeyLate',
  [Reason.RECOVERY_ERROR_PASSKEY_UNVERIFIED]: 'passkeyUnverified',
  [Reason.RECOVERY_ERROR_PASSKEY_INVALID]: 'passkeyUnfit',
}

/** Whose password is forgotten. */
export function recoveryPage(shown: Shown, { loginName, nameIsFixed, providers }: RecoveryPage): Document {
  const { language } = shown
  const { text } = language
  const content = html`${destination(shown)} ${there(language, providers)}
    <p>${text.recoverIntro}</p>
    ${form(
      shown,
      '/recovery',
      html`<label for="login-name">${text.loginName}</label>
        <input
          id="login-name"
          name="login_name"
          value="${loginName}"
          maxlength="500"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          dir="auto"
          required
          ${nameIsFixed ? html`readonly` : loginName === '' && html`autofocus`}
        />
        <button name="action" value="send" ${loginName !== '' && html`autofocus`}>${text.mailCode}</button>
        <button class="text" name="action" value="back" formnovalidate>${text.toSignIn}</button>`,
    )}`
  return frame(language, text.forgottenPassword, content)
}

// Where providers alone sign in, a code comes to those alone who have a password all the same.
function there(language: Language, providers: readonly string[]): Part {
  const named = oneOf(language, providers)
  return providers.length > 0 && html`<p>${fill(language.text.recoverThere, { providers: named })}</p>`
}

/** The code that was mailed, and the new password. */
export function recoveryCodePage(shown: Shown, page: RecoveryCodePage): Document {
  const { language } = shown
  const { text } = language
  const { loginName, error, retryAfter, passwordMin, passwordMax, keep } = page
  const lengths = { min: passwordMin, max: passwordMax }
  const key = problems[error]
  const message = key && fill(text[key], { ...lengths, wait: duration(language, retryAfter) })
  const isPasswordWrong =
    error === Reason.RECOVERY_ERROR_PASSWORD_INVALID || error === Reason.RECOVERY_ERROR_PASSWORD_TOO_COMMON
  const isCodeWrong = error === Reason.RECOVERY_ERROR_CODE_WRONG
  // By the name a manager of passwords keeps the new one.
  const content = html`${destination(shown)} ${there(language, page.providers)}
    <p>${text.recoverCodeIntro}</p>
    <p>${text.recoverEnds}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    ${form(
      shown,
      '/recovery/code',
      html`<label for="login-name">${text.loginName}</label>
        <input id="login-name" value="${loginName}" autocomplete="username" dir="auto" readonly />
        <label for="code">${text.mailedCode}</label>
        <input
          id="code"
          name="code"
          class="code"
          maxlength="20"
          autocomplete="one-time-code"
          autocapitalize="characters"
          spellcheck="false"
          required
          aria-describedby="code-hint${isCodeWrong && ' status'}"
          ${isCodeWrong && html`aria-invalid="true"`}
          ${!isPasswordWrong && html`autofocus`}
        />
        <p id="code-hint" class="hint">${text.codeHint}</p>
        <label for="password">${text.newPassword}</label>
        ${withShowButton(
          text,
          html`<input
            id="password"
            name="password"
            type="password"
            minlength="${passwordMin}"
            maxlength="${passwordMax}"
            autocomplete="new-password"
            required
            aria-describedby="password-hint${isPasswordWrong && ' status'}"
            ${isPasswordWrong && html`aria-invalid="true" autofocus`}
          />`,
        )}
        ${passwordHint(text, fill(text.passwordLengths, lengths))} ${keepBox(text, keep)}
        <button name="action" value="finish">${text.setPassword}</button>
        ${
          page.offersPasskey &&
          html`<button class="other" id="passkey-way" name="action" value="passkey" formnovalidate hidden>
            ${text.passkeyNotPassword}
          </button>`
        }
        <button class="text" name="action" value="back" formnovalidate>${text.otherRecovery}</button>`,
    )}`
  return frame(language, text.recover, content, {
    script: page.offersPasskey ? passwordScript + wayScript : passwordScript,
    ...(message && { windowTitle: fill(text.problem, { title: text.recover }) }),
  })
}

/** Shows the button that leads to a passkey. It lies in the page, like the style. */
const wayScript = readFileSync(new URL('../passkey-way.js', import.meta.url), 'utf8')

/** The code and a second factor were right: a passkey in place of a new password. */
export function recoveryPasskeyPage(shown: Shown, { loginName, passkey, error, keep }: RecoveryPasskeyPage): Document {
  const { language, formToken, requestId } = shown
  const { text } = language
  const key = problems[error]
  const action = `${addressOf(requestId)}/recovery/code`
  const sent = { form_token: formToken, action: 'add-passkey' }
  const content = html`${destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(loginName) })} ${text.recoverByPasskeyHint}</p>
    ${key && html`<p id="status" class="bad" role="alert">${text[key]}</p>`}
    ${passkey && newPasskeyForm(text, passkey, { action, sent, more: keepBox(text, keep) })}
    ${form(shown, '/recovery/code', html`<button class="text" name="action" value="password">${text.recoverByPassword}</button>`)}`
  return frame(language, text.recoverByPasskey, content, {
    script: newPasskeyScript,
    ...(key && { windowTitle: fill(text.problem, { title: text.recoverByPasskey }) }),
  })
}
