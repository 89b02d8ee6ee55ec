import { fill, html, type Html } from '../html.ts'
import { accountForm, type AccountShown, pathTo } from './account-frame.ts'

/** The last question before a person is removed. */
export function removalPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { forgetAfterDays: days } = shown.page
  return html`<h2>${text.removeAccount}</h2>
    <p>${text.removeIntro}</p>
    <p>${days > 0 ? fill(text.removeLater, { days }) : text.removeNow}</p>
    ${accountForm(shown, 'removal', html`<button class="other danger">${text.removeForGood}</button>`)}
    <p><a href="${pathTo(shown, 'data')}">${text.cancel}</a></p>`
}
