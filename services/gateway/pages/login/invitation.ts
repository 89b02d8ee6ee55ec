import {
  InvitationError as Reason,
  type InvitationLinkPage,
  type InvitationPage,
} from '#gen/roster/users/v1/sign_in_service'
import { addressOf, apart, form, oneOf, type Shown, strong, withBrandOf } from './form.ts'
import { fill, html, type Part } from './html.ts'
import { keepBox } from './keep-box.ts'
import { duration, type Language } from './language/language.ts'
import { linkCodeScript } from './link-code.ts'
import { joinByPasskey, passkeyJoinScript } from './passkeys/new-passkey.ts'
import { providerButtons, providerErrors } from './providers/provider-buttons.ts'
import { passwordHint, passwordScript, withShowButton } from './password-field.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey } from './texts/texts.ts'

/** Where the link leads: a button, and, where no script enters the code, its field. */
export function invitationLinkPage(
  language: Language,
  organizationId: string,
  { invitationId, problem }: InvitationLinkPage,
): Document {
  const { text } = language
  const message =
    problem === 'code' ? text.invitationCodeWrong : problem === 'throttled' ? text.invitationThrottled : undefined
  const isWrong = problem === 'code'
  const content = html`<p>${text.invitationIntro}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    <form method="post" action="/ui/invitation/${encodeURIComponent(invitationId)}">
      ${withBrandOf(organizationId)}
      <div id="code-field">
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
          aria-describedby="code-hint${isWrong && ' status'}"
          ${isWrong && html`aria-invalid="true"`}
          autofocus
        />
        <p id="code-hint" class="hint">${text.codeHint}</p>
      </div>
      <button id="open">${text.invitationOpen}</button>
    </form>`
  return frame(language, text.invitation, content, {
    script: linkCodeScript,
    ...(message && { windowTitle: fill(text.problem, { title: text.invitation }) }),
  })
}

const problems: Partial<Record<Reason, TextKey>> = {
  [Reason.INVITATION_ERROR_GIVEN_NAME_INVALID]: 'nameInvalid',
  [Reason.INVITATION_ERROR_FAMILY_NAME_INVALID]: 'nameInvalid',
  [Reason.INVITATION_ERROR_PASSWORD_INVALID]: 'passwordInvalid',
  [Reason.INVITATION_ERROR_PASSWORD_TOO_COMMON]: 'passwordTooCommon',
  [Reason.INVITATION_ERROR_THROTTLED]: 'throttled',
  [Reason.INVITATION_ERROR_PASSKEY_LATE]: 'passkeyLate',
  [Reason.INVITATION_ERROR_PASSKEY_UNVERIFIED]: 'passkeyUnverified',
  [Reason.INVITATION_ERROR_PASSKEY_NOT_ALLOWED]: 'passkeyNotAllowed',
  [Reason.INVITATION_ERROR_PASSKEY_INVALID]: 'passkeyUnfit',
  [Reason.INVITATION_ERROR_PROVIDER_LATE]: 'joinLate',
  [Reason.INVITATION_ERROR_PROVIDER_TAKEN]: 'joinTaken',
}

/** The invitation: a new person gives names and, where it serves, a password; a known one joins by a button. */
export function invitationPage(shown: Shown, page: InvitationPage): Document {
  const { language } = shown
  const { text } = language
  const { email, account, error, providerError, retryAfter, passwordMin, passwordMax } = page
  const lengths = { min: passwordMin, max: passwordMax }
  const isUnfit = error === Reason.INVITATION_ERROR_PASSKEY_INVALID
  const key = (isUnfit && page.withoutPassword ? 'passkeyUnfitHere' : problems[error]) ?? providerErrors[providerError]
  const message = key && fill(text[key], { ...lengths, wait: duration(language, retryAfter) })
  const who = account && html`${strong(account.displayName)} (${apart(email)})`
  const others = page.providersOfOthers
  const exception =
    others.length > 0 && html`<p>${fill(text.joinAsException, { providers: oneOf(language, others) })}</p>`
  const content = html`${said(shown, page)} ${exception}
  ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
  ${who && html`<p>${fill(text.invitationKnown, { account: who })}</p>`}
  ${form(shown, '/invitation', account ? html`<button autofocus>${text.invitationJoin}</button>` : fields(shown, page))}`
  return frame(language, text.invitation, content, {
    ...(!account && { script: page.passkey ? passwordScript + passkeyJoinScript : passwordScript }),
    connects: page.passkey !== undefined,
    ...(message && { windowTitle: fill(text.problem, { title: text.invitation }) }),
  })
}

// Who invites where to, and what they say.
function said({ language: { text }, destination }: Shown, { inviter, message, applicationName }: InvitationPage): Part {
  const host = apart(destination?.host ?? '')
  const values = { inviter: strong(inviter), application: strong(applicationName), host }
  const key: TextKey = applicationName === '' ? 'invitedHere' : 'invitedBy'
  return html`<p>${inviter === '' ? fill(text.invited, values) : fill(text[key], values)}</p>
    ${message !== '' && html`<blockquote>${apart(message)}</blockquote>`}`
}

function fields(shown: Shown, page: InvitationPage): Part {
  const { text, tag } = shown.language
  const { email, error, namesAreKnown, passwordMin, passwordMax, passkey, providers } = page
  const isByProvider = page.withoutPassword && providers.length > 0
  const joins = page.provedBy !== '' || !isByProvider
  const isPasswordWrong =
    error === Reason.INVITATION_ERROR_PASSWORD_INVALID || error === Reason.INVITATION_ERROR_PASSWORD_TOO_COMMON
  const isNameWrong = error === Reason.INVITATION_ERROR_FAMILY_NAME_INVALID
  const name = (id: 'given_name' | 'family_name', label: string, value: string, isWrong: boolean, isFirst: boolean) =>
    html`<label for="${id}">${label}</label>
      <input
        id="${id}"
        name="${id}"
        value="${value}"
        maxlength="200"
        autocomplete="${id === 'given_name' ? 'given-name' : 'family-name'}"
        required
        ${isWrong && html`aria-describedby="status" aria-invalid="true"`}
        ${isFirst && html`autofocus`}
      />`
  const names = html`${name('given_name', text.givenName, page.givenName, error === Reason.INVITATION_ERROR_GIVEN_NAME_INVALID, !isPasswordWrong && !isNameWrong)}
  ${name('family_name', text.familyName, page.familyName, isNameWrong, isNameWrong)}`
  const password = html`<label for="password">${text.newPassword}</label> ${withShowButton(
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
        ${isPasswordWrong && html`aria-invalid="true"`}
        ${(isPasswordWrong || namesAreKnown) && html`autofocus`}
      />`,
    )}
    ${passwordHint(text, fill(text.passwordLengths, { min: passwordMin, max: passwordMax }))}`
  // By the address a manager of passwords keeps the password.
  return html`<input type="hidden" name="language" value="${tag}" />
    <label for="email">${text.email}</label>
    <input id="email" type="email" value="${email}" autocomplete="username" readonly />
    ${!namesAreKnown && (joins || passkey) && names} ${page.withoutPassword ? byWhat(shown.language, page) : password}
    ${keepBox(text, page.keep)}
    ${joins && html`<button ${page.withoutPassword && namesAreKnown && html`autofocus`}>${text.invitationJoin}</button>`}
    ${
      passkey &&
      page.provedBy === '' &&
      joinByPasskey(text, passkey, {
        label: page.withoutPassword ? text.usePasskey : text.passkeyNotPassword,
        renewal: `${addressOf(shown.requestId)}/passkey`,
      })
    }
    ${isByProvider && providerButtons(shown, providers, !passkey)} ${page.provedBy !== '' && otherWay(shown)}`
}

// By what a person without a password signs in from now on.
function byWhat(language: Language, { provedBy, provedAs, providers }: InvitationPage): Part {
  const { text } = language
  const provider = strong(provedBy)
  if (provedBy !== '')
    return html`<p>
      ${fill(provedAs === '' ? text.joinProved : text.joinProvedAs, { provider, account: strong(provedAs) })}
    </p>`
  const names = providers.map(({ name }) => name)
  return html`<p>
    ${names.length > 0 ? fill(text.joinByProvider, { providers: oneOf(language, names) }) : text.joinByCode}
  </p>`
}

// Forgets whom the provider has proved.
function otherWay({ requestId, language: { text } }: Shown): Part {
  return html`<button
    class="text"
    formaction="${addressOf(requestId)}/provider"
    name="action"
    value="not-now"
    formnovalidate
  >
    ${text.joinOtherwise}
  </button>`
}
