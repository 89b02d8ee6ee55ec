import type { AccountPage } from '#gen/roster/users/v1/sign_in_service'
import { apart, type Shown, strong } from '../form.ts'
import { html, type Html, type Part } from '../html.ts'
import { newPasskeyScript } from '../passkeys/new-passkey.ts'
import { timesScript } from '../language/local-times.ts'
import { passwordScript } from '../password-field.ts'
import { type Document, frame } from '../shell.ts'
import type { TextKey } from '../texts/texts.ts'
import { outcomeOf } from './outcomes.ts'

/** A page of an account, with what all pages know. */
export interface AccountShown extends Shown {
  page: AccountPage
}

/** The pages of the navigation, by their paths. */
const sections: [path: string, title: TextKey][] = [
  ['', 'profile'],
  ['sign-in', 'signInWays'],
  ['activity', 'activity'],
  ['apps', 'consents'],
  ['data', 'yourData'],
]

/** Pages on the way of a change, and where they belong. */
const steps: Record<string, string> = {
  email: '',
  password: 'sign-in',
  passkeys: 'sign-in',
  providers: 'sign-in',
  authenticator: 'sign-in',
  'recovery-codes': 'sign-in',
  removal: 'data',
}

/** Makes a page around its content: whose account it is, the navigation, and what the form before has led to. */
export function accountFrame(shown: AccountShown, content: Part): Document {
  const { page, language } = shown
  const { text } = language
  const { displayName = '', loginName = '' } = page.account ?? {}
  const own = steps[page.section] ?? page.section
  const title = text[sections.find(([path]) => path === own)?.[1] ?? 'profile']
  const outcome = outcomeOf(page.outcome)
  const body = html`<p class="who">
      ${strong(displayName)}<br /><span class="hint"
        >${loginName !== page.email && html`${apart(loginName)} · `}${apart(page.email)}</span
      >
    </p>
    <nav class="menu" aria-label="${text.account}">
      ${sections.map(
        ([path, key]) =>
          html`<a href="${pathTo(shown, path)}" ${path === own && html`aria-current="page"`}>${text[key]}</a> `,
      )}
    </nav>
    ${
      outcome &&
      html`<p id="status" class="${outcome.isGood ? 'good' : 'bad'}" role="${outcome.isGood ? 'status' : 'alert'}">
        ${text[outcome.text]}
      </p>`
    }
    ${content}
    <h2>${text.leave}</h2>
    ${accountForm(shown, 'sign-out', html`<button class="other" name="action" value="here">${text.leaveHere}</button>`)}
    <p><a href="${pathTo(shown, '', { prompt: 'select_account' })}">${text.otherAccount}</a></p>`
  return frame(language, text.account, body, {
    windowTitle: `${title} – ${text.account}`,
    ...(page.section === 'password' && !page.signsInByMail && { script: passwordScript }),
    ...(['activity', 'apps', 'sign-in', 'providers'].includes(page.section) && { script: timesScript }),
    ...(page.section === 'passkeys' && { script: timesScript + newPasskeyScript }),
  })
}

/** A form of an account, to a path below it. */
export function accountForm({ formToken, uiLocales, page }: AccountShown, step: string, content: Part): Html {
  return html`<form method="post" action="/ui/account/${step}">
    <input type="hidden" name="user_id" value="${page.userId}" />
    <input type="hidden" name="form_token" value="${formToken}" />
    ${uiLocales !== '' && html`<input type="hidden" name="ui_locales" value="${uiLocales}" />`} ${content}
  </form>`
}

/** The address of a page of the account. */
export function pathTo({ uiLocales }: Shown, section: string, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...parameters, ...(uiLocales !== '' && { ui_locales: uiLocales }) }).toString()
  return `/ui/account${section && `/${section}`}${query && `?${query}`}`
}

/** Links to the part of a list that follows, and to its first one. */
export function linksOf(
  shown: AccountShown,
  { nextCursor, goesOn }: { nextCursor: string; goesOn: boolean },
  next: Record<string, string>,
  [further, first]: [string, string],
): Part {
  const { section } = shown.page
  const all = [
    nextCursor !== '' && html`<a href="${pathTo(shown, section, next)}">${further}</a>`,
    nextCursor !== '' && goesOn && ' · ',
    goesOn && html`<a href="${pathTo(shown, section)}">${first}</a>`,
  ]
  return all.some(Boolean) && html`<p>${all}</p>`
}

/** Whether the form before was refused for this reason: its field says so. */
export function faultIn(field: string, { page: { outcome } }: AccountShown): Part {
  return outcome === field && html`aria-invalid="true" aria-describedby="status" autofocus`
}
