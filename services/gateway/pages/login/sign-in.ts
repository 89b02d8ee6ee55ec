import { type SignInPage, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { fill, html } from './html.ts'
import { duration } from './language/language.ts'
import { frame, type Document } from './shell.ts'
import { addressOf, destination, form, isOwn, type Shown, strong } from './form.ts'
import { keepBox } from './keep-box.ts'
import { passwordScript, withShowButton } from './password-field.ts'
import { passkeyButton, passkeyErrors, passkeyForm, passkeyScript } from './passkeys/passkey-form.ts'
import { ableScript } from './passkeys/passkey-offer.ts'
import { providerButtons, providerErrors } from './providers/provider-buttons.ts'
import type { TextKey } from './texts/texts.ts'

const errors: Partial<Record<SignInError, TextKey>> = {
  [SignInError.SIGN_IN_ERROR_CREDENTIALS_INVALID]: 'credentialsInvalid',
  [SignInError.SIGN_IN_ERROR_THROTTLED]: 'throttled',
  [SignInError.SIGN_IN_ERROR_OTHER_PERSON]: 'otherPerson',
  [SignInError.SIGN_IN_ERROR_REGISTRATION_CLOSED]: 'registrationClosed',
  [SignInError.SIGN_IN_ERROR_ADDRESS_TAKEN]: 'addressTaken',
  [SignInError.SIGN_IN_ERROR_INVITED_PERSON]: 'invitedPerson',
  ...passkeyErrors,
  ...providerErrors,
}

/** Name and password on one page; or the name alone, where a code is mailed in place of a password. */
export function signInPage(shown: Shown, page: SignInPage): Document {
  const {
    loginName,
    nameIsFixed,
    error,
    retryAfter,
    mayRegister,
    hidesPasswordReset,
    recovers,
    keep,
    passkey,
    mailsCode,
    providers,
    linksProvider,
    asksNameAlone,
    withoutPassword,
  } = page
  const { language } = shown
  const { text } = language
  const title = nameIsFixed ? text.signInAgain : text.signIn
  const isUnknown = error === SignInError.SIGN_IN_ERROR_PROVIDER_UNKNOWN
  const key = isUnknown && linksProvider === '' ? 'providerUnknownByLink' : errors[error]
  const provider = strong(linksProvider)
  const message = key && fill(text[key], { wait: duration(language, retryAfter), provider })
  const isWrong = error === SignInError.SIGN_IN_ERROR_CREDENTIALS_INVALID
  const described = message && html`aria-describedby="status" ${isWrong && html`aria-invalid="true"`}`
  const focusOnName = loginName === '' && !nameIsFixed
  const hasPassword = !mailsCode && !asksNameAlone && !withoutPassword
  const hasName = !withoutPassword || asksNameAlone || nameIsFixed
  const passwordField = html`<label for="password">${text.password}</label> ${withShowButton(
      text,
      html`<input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        ${described}
        ${!focusOnName && html`autofocus`}
      />`,
    )}`
  // Unless the message says it.
  const linking = linksProvider !== '' && !isUnknown && fill(text.linksProvider, { provider })
  const content = html`${destination(shown)} ${linking && html`<p>${linking}</p>`}
  ${message && html`<p id="status" class="${isUnknown ? 'note' : 'bad'}" role="alert">${message}</p>`}
  ${form(
    shown,
    '',
    html`${
      hasName &&
      html`<label for="login-name">${text.loginName}</label>
        <input
          id="login-name"
          name="login_name"
          value="${loginName}"
          autocomplete="${passkey ? 'username webauthn' : 'username'}"
          autocapitalize="none"
          spellcheck="false"
          dir="auto"
          required
          ${nameIsFixed ? html`readonly` : described}
          ${focusOnName && html`autofocus`}
        />`
    }
    ${hasPassword && passwordField} ${keepBox(text, keep)}
    ${passkey && hasPassword && html`<input type="hidden" id="new-passkey" name="new_passkey" value="" />`}
    ${asksNameAlone && html`<button name="action" value="name" ${!focusOnName && html`autofocus`}>${text.goOn}</button>`}
    ${
      mailsCode &&
      !asksNameAlone &&
      html`<button name="action" value="mail-code" ${!focusOnName && html`autofocus`}>${text.mailCode}</button>`
    }
    ${hasPassword && html`<button name="action" value="sign-in">${text.signIn}</button>`}
    ${passkey && passkeyButton(text)}
    ${providerButtons(shown, providers, withoutPassword && !passkey && !asksNameAlone)}
    ${nameIsFixed && html`<button class="text" name="action" value="another-account" formnovalidate>${text.otherAccount}</button>`}
    ${
      !hidesPasswordReset &&
      recovers &&
      html`<button
        class="text"
        formaction="${addressOf(shown.requestId)}/recovery"
        name="action"
        value="begin"
        formnovalidate
      >
        ${text.forgotten}
      </button>`
    }
    ${mayRegister && html`<button class="other" name="action" value="register" formnovalidate>${text.register}</button>`}
    ${!isOwn(shown) && html`<button class="text" name="action" value="cancel" formnovalidate>${text.cancel}</button>`}`,
  )}
  ${passkey && passkeyForm(shown, passkey, { isOffered: !nameIsFixed && !passkeyErrors[error] })}
  ${!hidesPasswordReset && !recovers && html`<p class="aside"><a href="/ui/forgot-password">${text.forgotten}</a></p>`}`
  return frame(language, title, content, {
    script: (hasPassword ? passwordScript : '') + (passkey ? passkeyScript + (hasPassword ? ableScript : '') : ''),
    connects: passkey !== undefined,
    ...(message && { windowTitle: fill(text.problem, { title }) }),
  })
}
