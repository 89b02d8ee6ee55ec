import type { ConsentPage } from '#gen/roster/users/v1/sign_in_service'
import { apart, form, namesOf, type Shown, strong } from './form.ts'
import { fill, html, type Part } from './html.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey, Texts } from './texts/texts.ts'

/** What the application asks for. */
export function consentPage(
  shown: Shown,
  { account, scopes, actsInRoster, clickOnly, tooMany }: ConsentPage,
): Document {
  const { text } = shown.language
  const { displayName = '', loginName = '' } = account ?? {}
  const names = {
    ...namesOf(shown.destination ?? { applicationName: '', host: '' }),
    account: html`${strong(displayName)} (${apart(loginName)})`,
  }
  const other = html`<button class="text" name="action" value="another-account">${text.otherAccount}</button>`
  const deny = html`<button class="other" name="action" value="deny">${clickOnly ? text.cancel : text.deny}</button>`
  if (clickOnly) {
    const goOn = fill(text.continueAs, { name: apart(displayName) })
    const buttons = html`<button name="action" value="allow">${goOn}</button> ${other} ${deny}`
    const content = html`<p>${fill(text.continueIntro, names)}</p>
      ${form(shown, '/decision', buttons)}`
    return frame(shown.language, text.continue, content)
  }
  // It stands out below.
  const others = actsInRoster ? scopes.filter((scope) => scope !== roster) : scopes
  const wishes = others.length === 0 && actsInRoster ? undefined : wishesOf(text, others)
  const full = tooMany ? html`<p id="status" class="bad" role="alert">${text.tooManyConsents}</p>` : undefined
  const content = html`${full}
    <p>${fill(text.consentIntro, names)}</p>
    <ul>
      ${wishes}${actsInRoster && html`<li><strong>${text.actsInRoster}</strong></li>`}
    </ul>
    ${form(shown, '/decision', html`<button name="action" value="allow">${text.allow}</button> ${deny} ${other}`)}
    <p class="hint">${text.consentHint}</p>`
  return frame(
    shown.language,
    text.consent,
    content,
    full && { windowTitle: fill(text.problem, { title: text.consent }) },
  )
}

/** The scope with which an application may act in Roster. */
const roster = 'urn:zitadel:iam:org:project:id:zitadel:aud'

/** What an application wants, or may do, as items of a list. Without a scope it learns who it is, too. */
export function wishesOf(text: Texts, scopes: string[]): Part {
  if (scopes.length === 0) return html`<li>${text.scopeOpenid}</li>`
  return [...new Set(scopes.map(kindOf))].map((kind) => html`<li>${wish(text, kind)}</li> `)
}

const known: Record<string, TextKey> = {
  [roster]: 'actsInRoster',
  openid: 'scopeOpenid',
  profile: 'scopeProfile',
  email: 'scopeEmail',
  roles: 'scopeRoles',
  offline_access: 'scopeOfflineAccess',
  'urn:roster:provider_tokens': 'scopeProviderTokens',
  organization: 'scopeOrganization',
  project: 'scopeProject',
}

// ZITADEL has several scopes for one thing.
function kindOf(scope: string): string {
  return kinds.find(([, scopes]) => scopes.test(scope))?.[0] ?? scope
}

const kinds: [string, RegExp][] = [
  ['roles', /^urn:zitadel:iam:org:projects?:(\w+:)?roles?/],
  ['organization', /^urn:zitadel:iam:(org:id:|user:resourceowner$)/],
  ['project', /^(project:|urn:zitadel:iam:org:project:id:(?!zitadel:))/],
]

function wish(text: Texts, kind: string): Part {
  const key = Object.hasOwn(known, kind) && known[kind]
  return key ? text[key] : fill(text.scopeOther, { scope: apart(kind) })
}
