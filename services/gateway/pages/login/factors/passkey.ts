import type { PasskeyPage } from '#gen/roster/users/v1/sign_in_service'
import { destination, form, type Shown, strong } from '../form.ts'
import { fill, html, type Part } from '../html.ts'
import { passkeyButton, passkeyErrors, passkeyForm, passkeyScript } from '../passkeys/passkey-form.ts'
import { type Document, frame } from '../shell.ts'
import { waysOut } from './ways-out.ts'

/** A passkey as a second factor. Without script, and where no passkey serves, the page leads to another way. */
export function passkeyPage(
  shown: Shown,
  { loginName, passkey, error, ways, mayPassOver, isDead }: PasskeyPage,
): Document {
  const { language } = shown
  const { text } = language
  const key = passkeyErrors[error]
  const content = html`${destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(loginName) })} ${passkey && text.confirmByPasskeyHint}</p>
    ${key && html`<p id="status" class="bad" role="alert">${text[key]}</p>`}
    ${without(isDead ? text.passkeyOtherDomain : text.noPasskeyServes, passkey === undefined)}
    ${form(
      shown,
      '/passkey',
      html`${passkey && passkeyButton(text, { isMain: true })}
      ${waysOut(shown, { ways, mayPassOver, isMain: passkey === undefined, at: 'passkey' })}`,
    )}
    ${passkey && passkeyForm(shown, passkey, { isOffered: false })}`
  return frame(language, text.confirmByPasskey, content, {
    ...(key && { windowTitle: fill(text.problem, { title: text.confirmByPasskey }) }),
    ...(passkey && { script: passkeyScript, connects: true }),
  })
}

// Said where no passkey serves here, and by browsers that have no script.
function without(sentence: string, always: boolean): Part {
  if (always) return html`<p>${sentence}</p>`
  return html`<noscript><p>${sentence}</p></noscript>
    <p data-without-passkey hidden>${sentence}</p>`
}
