import { readFileSync } from 'node:fs'
import type { PasskeyLinkPage } from '#gen/roster/users/v1/sign_in_service'
import { withBrandOf } from '../form.ts'
import { html } from '../html.ts'
import type { Language } from '../language/language.ts'
import { newPasskeyForm, newPasskeyScript } from './new-passkey.ts'
import { type Document, frame } from '../shell.ts'

/** Enters what stands behind the # of the link. It lies in the page, like the style. */
const linkScript = readFileSync(new URL('../../passkey-link.js', import.meta.url), 'utf8')

/** Where the link leads that adds a passkey: a button, since scanners of mails open links; then what makes the passkey. */
export function passkeyLinkPage(
  language: Language,
  organizationId: string,
  { userId, codeId, passkey }: PasskeyLinkPage,
): Document {
  const { text } = language
  if (passkey) {
    const sent = { user_id: userId, code_id: codeId, organization_id: organizationId }
    const form = newPasskeyForm(text, passkey, { action: '/ui/passkey/new', sent })
    return frame(
      language,
      text.passkeyLink,
      html`<p>${text.passkeysIntro}</p>
        ${form}`,
      { script: newPasskeyScript },
    )
  }
  const content = html`<p>${text.passkeyLinkIntro}</p>
    <noscript><p>${text.passkeyUnable}</p></noscript>
    <form method="post" action="/ui/passkey" id="link-form">
      ${withBrandOf(organizationId)}
      <input type="hidden" name="user_id" value="" />
      <input type="hidden" name="code_id" value="" />
      <input type="hidden" name="code" value="" />
      <button>${text.passkeyLinkOpen}</button>
    </form>`
  return frame(language, text.passkeyLink, content, { script: linkScript })
}
