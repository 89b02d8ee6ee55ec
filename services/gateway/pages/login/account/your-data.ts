import { html, type Html } from '../html.ts'
import { accountForm, type AccountShown, pathTo } from './account-frame.ts'

/** What is kept of the person, as a file; and the way to be removed. */
export function yourDataPart(shown: AccountShown): Html {
  const { text } = shown.language
  return html`<h2>${text.download}</h2>
    <p>${text.downloadIntro}</p>
    ${accountForm(shown, 'data', html`<button class="other">${text.downloadFile}</button>`)}
    <h2>${text.removeAccount}</h2>
    <p>${text.removeIntro}</p>
    <p><a href="${pathTo(shown, 'removal')}">${text.removeAccount}</a></p>`
}
