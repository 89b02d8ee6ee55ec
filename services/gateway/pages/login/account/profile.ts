import { apart } from '../form.ts'
import { html, type Html, type Part } from '../html.ts'
import { texts } from '../texts/texts.ts'
import { accountForm, type AccountShown, faultIn, pathTo } from './account-frame.ts'

/** Name, language, address. */
export function profilePart(shown: AccountShown): Html {
  const { text } = shown.language
  const { profile, email, emailVerified, emailCodeMailed } = shown.page
  const { givenName = '', familyName = '', displayName = '', language = '', userName = '' } = profile ?? {}
  return html`<h2>${text.profile}</h2>
    ${accountForm(
      shown,
      'profile',
      html`${name(shown, 'given_name', text.givenName, 'given-name', givenName)}
        ${name(shown, 'family_name', text.familyName, 'family-name', familyName)}
        ${name(shown, 'display_name', text.displayName, 'nickname', displayName)}
        <label for="language">${text.language}</label>
        <select id="language" name="language" ${faultIn('language-invalid', shown)}>
          ${languageOptions(shown, language)}
        </select>
        <button ${!emailVerified && html`class="other"`}>${text.save}</button>`,
    )}
    <h2>${text.email}</h2>
    <p>
      ${apart(email)}<br /><span class="hint"
        >${emailVerified ? text.verified : emailCodeMailed ? text.notVerified : text.neverMailed}</span
      >
    </p>
    ${!emailVerified && codeForm(shown)}
    <p><a href="${pathTo(shown, 'email')}">${text.changeEmail}</a></p>
    ${
      userName !== '' &&
      html`<h2>${text.userName}</h2>
        <p>${apart(userName)}<br /><span class="hint">${text.ofOrganization}</span></p>`
    }`
}

function name(shown: AccountShown, field: string, label: string, autocomplete: string, value: string): Html {
  return html`<label for="${field}">${label}</label>
    <input
      id="${field}"
      name="${field}"
      value="${value}"
      maxlength="200"
      autocomplete="${autocomplete}"
      dir="auto"
      required
      ${faultIn(`${field.replace('_', '-')}-invalid`, shown)}
    />`
}

// That of the person may be one that the pages do not have.
function languageOptions({ language: { text } }: AccountShown, chosen: string): Part[] {
  const names: Record<string, string> = { '': text.languageOfBrowser }
  for (const tag of [...Object.keys(texts), ...(chosen === '' ? [] : [chosen])])
    names[tag] = new Intl.DisplayNames([tag, 'en'], { type: 'language' }).of(tag) ?? tag
  return Object.entries(names).map(
    ([tag, label]) => html`<option value="${tag}" ${tag === chosen && html`selected`}>${label}</option> `,
  )
}

function codeForm(shown: AccountShown): Html {
  const { text } = shown.language
  if (!shown.page.emailCodeMailed)
    return accountForm(shown, 'email/code', html`<button name="action" value="send">${text.mailCodeNow}</button>`)
  return accountForm(
    shown,
    'email/code',
    html`<label for="code">${text.mailedCode}</label>
      <input
        id="code"
        name="code"
        class="code"
        maxlength="20"
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck="false"
        required
        ${faultIn('code-wrong', shown)}
      />
      <button name="action" value="check">${text.verifyEmail}</button>
      <button class="text" name="action" value="send" formnovalidate>${text.mailOtherCode}</button>`,
  )
}
