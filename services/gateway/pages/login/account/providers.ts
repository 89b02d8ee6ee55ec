import type { OwnProvider } from '#gen/roster/users/v1/sign_in_service'
import { apart, strong } from '../form.ts'
import { fill, html, type Html, type Part } from '../html.ts'
import { moment } from '../language/language.ts'
import { accountForm, type AccountShown, pathTo } from './account-frame.ts'

/** The list, on the page of how the person signs in. */
export function providerList(shown: AccountShown): Part {
  const { providers } = shown.page
  if (providers.length === 0) return false
  const { text } = shown.language
  return html`<h2>${text.otherServices}</h2>
    <ul class="list">
      ${providers.map((one) => html`<li>${providerText(shown, one)}</li> `)}
    </ul>
    <p><a href="${pathTo(shown, 'providers')}">${text.manageServices}</a></p>`
}

/** What changes them. */
export function providersPart(shown: AccountShown): Part {
  const { text } = shown.language
  const { providers } = shown.page
  return html`<h2>${text.otherServices}</h2>
    <p>${providers.length === 0 ? text.noServices : text.otherServicesIntro}</p>
    <ul class="list">
      ${providers.map(
        (one) =>
          html`<li>
            ${providerText(shown, one)}
            ${accountForm(
              shown,
              'providers/remove',
              html`<input type="hidden" name="idp_id" value="${one.idpId}" />
                <button class="other">${text.disconnect}</button>`,
            )}
          </li> `,
      )}
    </ul>
    <p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`
}

function providerText({ language }: AccountShown, { name, userName, creationDate }: OwnProvider): Html {
  const { text } = language
  return html`${name === '' ? html`<strong>${text.serviceOff}</strong>` : strong(name)}
    ${userName !== '' && html`<br />${apart(userName)}`} <br /><span class="hint"
      >${fill(text.connectedSince, { time: moment(language, creationDate!) })}</span
    >`
}
