import { NewPasswordError as Reason, type NewPasswordPage } from '#gen/roster/users/v1/sign_in_service'
import { destination, form, isOwn, type Shown, strong } from './form.ts'
import { fill, html } from './html.ts'
import { duration } from './language/language.ts'
import { passwordHint, passwordScript, withShowButton } from './password-field.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey } from './texts/texts.ts'

const problems: Partial<Record<Reason, TextKey>> = {
  [Reason.NEW_PASSWORD_ERROR_INVALID]: 'passwordInvalid',
  [Reason.NEW_PASSWORD_ERROR_TOO_COMMON]: 'passwordTooCommon',
  [Reason.NEW_PASSWORD_ERROR_UNCHANGED]: 'passwordUnchanged',
  [Reason.NEW_PASSWORD_ERROR_THROTTLED]: 'throttled',
}

/** Another password, in place of one that somebody else has set. */
export function newPasswordPage(shown: Shown, page: NewPasswordPage): Document {
  const { language } = shown
  const { text } = language
  const { loginName, error, retryAfter, passwordMin, passwordMax } = page
  const lengths = { min: passwordMin, max: passwordMax }
  const key = problems[error]
  const message = key && fill(text[key], { ...lengths, wait: duration(language, retryAfter) })
  const isWrong = key !== undefined && error !== Reason.NEW_PASSWORD_ERROR_THROTTLED
  // By the name a manager of passwords keeps the new one.
  const content = html`${destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(loginName) })} ${text.newPasswordIntro}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    ${form(
      shown,
      '/new-password',
      html`<input type="hidden" autocomplete="username" value="${loginName}" />
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
            autofocus
            aria-describedby="password-hint${isWrong && ' status'}"
            ${isWrong && html`aria-invalid="true"`}
          />`,
        )}
        ${passwordHint(text, fill(text.passwordLengths, lengths))}
        <button name="action" value="set">${text.setNewPassword}</button>
        <button class="text" name="action" value="another-account" formnovalidate>${text.otherAccount}</button>
        ${
          !isOwn(shown) &&
          html`<button class="text" name="action" value="cancel" formnovalidate>${text.cancel}</button>`
        }`,
    )}`
  return frame(language, text.recover, content, {
    script: passwordScript,
    ...(message && { windowTitle: fill(text.problem, { title: text.recover }) }),
  })
}
