import { apart } from '../form.ts'
import { fill, html, type Html } from '../html.ts'
import { accountForm, type AccountShown, faultIn, pathTo } from './account-frame.ts'

/** Another address. */
export function emailPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { email, emailVerified, takeBackHours } = shown.page
  return html`<h2>${text.changeEmail}</h2>
    <p>${text.changeEmailIntro}</p>
    ${
      emailVerified &&
      html`<p>
        ${fill(takeBackHours > 0 ? text.takeBackHint : text.formerToldHint, { email: apart(email), hours: takeBackHours })}
      </p>`
    }
    ${accountForm(
      shown,
      'email',
      html`<label for="email">${text.newEmail}</label>
        <input
          id="email"
          name="email"
          type="email"
          maxlength="200"
          autocomplete="email"
          required
          ${faultIn('address-invalid', shown) || faultIn('address-same', shown)}
        />
        <button>${text.mailCode}</button>`,
    )}
    <p><a href="${pathTo(shown, '')}">${text.cancel}</a></p>`
}
