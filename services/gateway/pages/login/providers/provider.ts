import type { ProviderLinkPage, ProviderRegistrationPage } from '#gen/roster/users/v1/sign_in_service'
import { apart, destination, form, isOwn, type Shown, strong } from '../form.ts'
import { fill, html } from '../html.ts'
import { registrationFields, sayProblem } from '../registration.ts'
import { type Document, frame } from '../shell.ts'

/** What the account still needs of who was proved by a provider for the first time. */
export function providerRegistrationPage(shown: Shown, page: ProviderRegistrationPage): Document {
  const { text } = shown.language
  const { provider, userName } = page
  const names = { provider: strong(provider), account: strong(userName) }
  const problem = sayProblem(shown, page)
  const content = html`${destination(shown)}
    <p>${fill(userName === '' ? text.createAccountWithIntro : text.createAccountWithAs, names)}</p>
    ${problem && html`<p id="status" class="bad" role="alert">${problem}</p>`}
    ${form(
      shown,
      '/provider',
      html`${registrationFields(shown, page)}
        <button name="action" value="register">${text.createAccount}</button>
        <button class="text" name="action" value="not-now" formnovalidate>${text.haveAccount}</button>`,
    )}`
  const title = text.createAccountWith
  return frame(shown.language, title, content, problem ? { windowTitle: fill(text.problem, { title }) } : {})
}

/** Whether a provider signs in who has just signed in, from now on: our words first, and then the provider's. */
export function providerLinkPage(shown: Shown, page: ProviderLinkPage): Document {
  const { text } = shown.language
  const { loginName, provider, userName, subject, email, refusal } = page
  const names = { provider: strong(provider), login: strong(loginName) }
  const refused = refusal && fill(refusal === 'taken' ? text.linkProviderTaken : text.linkProviderOther, names)
  const said: [string, string][] = [
    [text.linkProviderName, userName],
    [text.linkProviderEmail, email],
    [text.linkProviderSubject, subject],
  ]
  const content = html`${destination(shown)}
    ${
      refused
        ? html`<p id="status" class="bad" role="alert">${refused}</p>`
        : html`<p>${fill(text.linkProviderIntro, names)}</p>
            <p>${fill(text.linkProviderOnly, names)}</p>`
    }
    <p>${fill(text.linkProviderSays, names)}</p>
    <dl class="facts">
      ${said.map(
        ([what, value]) =>
          value !== '' &&
          html`<dt>${what}</dt>
            <dd><q>${apart(value)}</q></dd>`,
      )}
    </dl>
    ${form(
      shown,
      '/provider',
      html`${!refused && html`<button name="action" value="link">${text.linkProviderDo}</button>`}
        <button class="other" name="action" value="not-now">
          ${refused ? text.linkProviderGoOn : text.linkProviderNotNow}
        </button>
        ${!isOwn(shown) && html`<button class="text" name="action" value="cancel">${text.cancel}</button>`}`,
    )}`
  return frame(shown.language, text.linkProvider, content)
}
