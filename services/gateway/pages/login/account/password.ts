import { fill, html, type Html } from '../html.ts'
import { passwordHint, withShowButton } from '../password-field.ts'
import { accountForm, type AccountShown, pathTo } from './account-frame.ts'

/** Another password. */
export function passwordPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { account, passwordMin, passwordMax, outcome, signsInByMail, lacksPassword = false } = shown.page
  const title = lacksPassword ? text.choosePassword : text.changePassword
  if (signsInByMail)
    return html`<p>${text.passwordUnused}</p>
      <p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`
  const isWrong = outcome.startsWith('password-')
  // By the name a manager of passwords keeps the new one.
  return html`<h2>${title}</h2>
    <p>${text.passwordEnds}</p>
    ${accountForm(
      shown,
      'password',
      html`<input type="hidden" autocomplete="username" value="${account?.loginName ?? ''}" />
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
        ${passwordHint(text, fill(text.passwordLengths, { min: passwordMin, max: passwordMax }))}
        <button>${title}</button>`,
    )}
    <p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`
}
