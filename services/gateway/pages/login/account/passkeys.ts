import type { OwnPasskey, PasskeyPrompt, PasskeysPart } from '#gen/roster/users/v1/sign_in_service'
import { strong } from '../form.ts'
import { fill, html, type Html, type Part } from '../html.ts'
import { type Language, moment } from '../language/language.ts'
import { newPasskeyForm } from '../passkeys/new-passkey.ts'
import { accountForm, type AccountShown, faultIn, pathTo } from './account-frame.ts'

/** The list, on the page of how the person signs in. */
export function passkeyList(shown: AccountShown): Part {
  const { passkeys: part } = shown.page
  if (!part) return false
  const { text } = shown.language
  const items = part.passkeys.map((one) => html`<li>${passkeyText(shown.language, one)}</li> `)
  return html`<h2>${text.passkeys}</h2>
    <p>${text.passkeysIntro}</p>
    ${
      items.length > 0
        ? html`<ul class="list">
            ${items}
          </ul>`
        : html`<p>${text.noPasskeys}</p>`
    }
    <p><a href="${pathTo(shown, 'passkeys')}">${text.managePasskeys}</a></p>`
}

/** What changes them. */
export function passkeysPart(shown: AccountShown): Part {
  const { text } = shown.language
  const { passkeys: part } = shown.page
  if (!part) return html`<p>${text.passkeysNotAllowed}</p>`
  const { passkeys, newPasskey, byMailAlone } = part
  return html`<h2>${text.passkeys}</h2>
    <p>${text.passkeysIntro}</p>
    ${passkeys.length === 0 && html`<p>${text.noPasskeys}</p>`} ${list(shown, part)}
    ${passkeys.length > 0 && html`<p class="hint">${text.passkeyRemoveHint}</p>`}
    ${newPasskey ? addForm(shown, newPasskey) : html`<p>${whyNone(shown.language, part)}</p>`}
    ${!byMailAlone && html`<p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`}`
}

function whyNone({ text }: Language, { isFull, byMailAlone }: PasskeysPart): string {
  if (byMailAlone) return text.passkeysByMail
  return isFull ? text.passkeysFull : text.passkeysNotAllowed
}

function list(shown: AccountShown, { passkeys, rpId, userHandle, byMailAlone }: PasskeysPart): Part {
  const accepted = JSON.stringify(passkeys.filter(({ isDead }) => !isDead).map(({ credentialId }) => credentialId))
  const { loginName = '', displayName = '' } = shown.page.account ?? {}
  return html`<ul
    class="list"
    id="passkeys"
    data-rp-id="${rpId}"
    data-user-handle="${userHandle}"
    data-accepted="${accepted}"
    data-user-name="${loginName}"
    data-display-name="${displayName}"
  >
    ${passkeys.map(
      (one, at) =>
        html`<li>
          <div id="passkey-${at}">${passkeyText(shown.language, one)}</div>
          ${!byMailAlone && changeForm(shown, one, at)}
        </li> `,
    )}
  </ul>`
}

function changeForm(shown: AccountShown, { id, name }: OwnPasskey, at: number): Html {
  const { text } = shown.language
  return accountForm(
    shown,
    'passkeys/change',
    html`<input type="hidden" name="passkey_id" value="${id}" />
      <label for="name-${at}">${text.passkeyName}</label>
      <input
        id="name-${at}"
        name="name"
        value="${name}"
        maxlength="200"
        autocomplete="off"
        dir="auto"
        aria-describedby="passkey-${at}"
      />
      <button class="other" name="action" value="rename" aria-describedby="passkey-${at}">${text.rename}</button>
      <button class="other danger" name="action" value="remove" aria-describedby="passkey-${at}">
        ${text.remove}
      </button>`,
  )
}

function addForm(shown: AccountShown, prompt: PasskeyPrompt): Html {
  const { text } = shown.language
  const sent = { user_id: shown.page.userId, form_token: shown.formToken, ui_locales: shown.uiLocales }
  const fault = faultIn('passkey-name-invalid', shown)
  return html`<h2>${text.newPasskey}</h2>
    ${newPasskeyForm(text, prompt, { action: '/ui/account/passkeys', sent, fault })}`
}

function passkeyText(language: Language, passkey: OwnPasskey): Html {
  const { text } = language
  const { name, maker, creationDate, lastUseDate, backedUp, isDead, secondOnly } = passkey
  const facts: Part[] = [
    maker !== '' && maker !== name && fill(text.passkeyMadeBy, { maker }),
    creationDate && fill(text.passkeyMade, { time: moment(language, creationDate) }),
    lastUseDate ? fill(text.passkeyUsed, { time: moment(language, lastUseDate) }) : text.passkeyNotUsed,
    backedUp && text.passkeyBackedUp,
  ]
  const known = facts.filter(Boolean)
  return html`${strong(name || text.passkeyWithoutName)}
    <span class="hint fact">${known.map((fact, at) => [at > 0 && ' · ', fact])}</span>
    ${isDead && html`<span class="hint fact">${text.passkeyDead}</span>`}
    ${secondOnly && html`<span class="hint fact">${text.passkeySecondOnly}</span>`}`
}
