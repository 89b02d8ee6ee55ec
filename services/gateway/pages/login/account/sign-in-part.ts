import { html, type Html } from '../html.ts'
import { apart } from '../form.ts'
import { passkeyList } from './passkeys.ts'
import { type AccountShown, pathTo } from './account-frame.ts'
import { providerList } from './providers.ts'
import { secondFactorsList } from './second-factors.ts'

/** How the person signs in. */
export function signInPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { lacksPassword = false } = shown.page
  return html`<h2>${text.howYouSignIn}</h2>
    <ul class="list">
      <li>
        ${
          shown.page.signsInByMail
            ? html`<strong>${text.signsInByMail}</strong><br />${apart(shown.page.email)}`
            : html`<strong>${text.password}</strong><br />${lacksPassword && html`${text.lacksPassword}<br />`}<a
                  href="${pathTo(shown, 'password')}"
                  >${lacksPassword ? text.choosePassword : text.changePassword}</a
                >`
        }
      </li>
    </ul>
    ${passkeyList(shown)} ${providerList(shown)} ${secondFactorsList(shown)}`
}
