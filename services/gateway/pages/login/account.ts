import type { AccountPage, ConsentsPart, SessionsPart } from '#gen/roster/users/v1/sign_in_service'
import type { Consent, Session } from '#gen/roster/users/v1/session_service'
import { wishesOf } from './consent.ts'
import { apart, type Shown, strong } from './form.ts'
import { fill, html, type Html, type Part } from './html.ts'
import { type Language, moment } from './language.ts'
import { type Document, frame } from './shell.ts'

/** A person's own account. */
export function accountPage(shown: Shown, { account, userId, email, sessions, consents }: AccountPage): Document {
  const { text } = shown.language
  const { displayName = '', loginName = '' } = account ?? {}
  const form = (step: string, content: Part) => accountForm(shown, userId, step, content)
  const content = html`<p>${strong(displayName)} (${apart(loginName)})<br />${apart(email)}</p>
    <p><a href="${linkTo(shown, { prompt: 'select_account' })}">${text.otherAccount}</a></p>
    ${sessions && sessionsPart(shown, sessions, form)} ${consents && consentsPart(shown, consents, form)}
    <h2>${text.leave}</h2>
    <p id="everywhere">${text.leaveHint}</p>
    ${form(
      'sign-out',
      html`<button class="other" name="action" value="here">${text.leaveHere}</button>
        <button class="other" name="action" value="everywhere" aria-describedby="everywhere">
          ${text.leaveEverywhere}
        </button>`,
    )}`
  return frame(shown.language, text.account, content)
}

type MakeForm = (step: string, content: Part) => Html

function sessionsPart(shown: Shown, part: SessionsPart, form: MakeForm): Html {
  const { sessions, total, nextCursor } = part
  const { text } = shown.language
  const items = sessions.map((session, at) => {
    const button = html`<button class="other" name="session_id" value="${session.id}" aria-describedby="session-${at}">
      ${text.endSession}
    </button>`
    return html`<li>
      <div id="session-${at}">${sessionText(shown.language, session)}</div>
      ${!session.isCurrent && button}
    </li> `
  })
  return html`<h2>${fill(text.sessions, { count: total })}</h2>
    ${form(
      'session',
      html`<ul class="list">
        ${items}
      </ul>`,
    )}
    ${links(shown, part, { sessions_cursor: nextCursor }, [text.furtherSessions, text.firstSessions])}`
}

function sessionText(language: Language, session: Session): Html {
  const { text } = language
  const { isCurrent, inBrowser, creationDate, lastUseDate, expirationDate } = session
  const facts = [
    creationDate && fill(text.sessionBegan, { time: moment(language, creationDate) }),
    lastUseDate && fill(text.sessionUsed, { time: moment(language, lastUseDate) }),
    expirationDate && fill(text.sessionEnds, { time: moment(language, expirationDate) }),
  ]
  const kind = isCurrent ? text.thisBrowser : inBrowser ? text.someBrowser : text.someProgram
  return html`<strong>${kind}</strong> ${facts.map((fact) => fact && html`<span class="hint fact">${fact}</span> `)}`
}

function consentsPart(shown: Shown, part: ConsentsPart, form: MakeForm): Html {
  const { consents, total, nextCursor } = part
  const { text } = shown.language
  const items = consents.map(
    (consent, at) =>
      html`<li>
        <div id="consent-${at}">${consentText(shown.language, consent)}</div>
        <button class="other" name="application_id" value="${consent.applicationId}" aria-describedby="consent-${at}">
          ${text.takeBack}
        </button>
      </li> `,
  )
  return html`<h2>${fill(text.consents, { count: total })}</h2>
    ${
      items.length === 0
        ? html`<p>${text.noConsents}</p>`
        : form(
            'consent',
            html`<ul class="list">
              ${items}
            </ul>`,
          )
    }
    ${links(shown, part, { consents_cursor: nextCursor }, [text.furtherConsents, text.firstConsents])}`
}

function consentText(language: Language, { applicationName, scopes, givenDate }: Consent): Html {
  const { text } = language
  const name = applicationName === '' ? html`<strong>${text.removedApplication}</strong>` : strong(applicationName)
  const given = givenDate && fill(text.consentGiven, { time: moment(language, givenDate) })
  return html`${fill(text.consentMay, { application: name })}
    <ul>
      ${wishesOf(text, scopes)}
    </ul>
    ${given && html`<span class="hint fact">${given}</span>`}`
}

// To the part of a list that follows, and to its first one.
function links(
  shown: Shown,
  { nextCursor, goesOn }: Pick<SessionsPart, 'nextCursor' | 'goesOn'>,
  next: Record<string, string>,
  [further, first]: [string, string],
): Part {
  const all = [
    nextCursor !== '' && html`<a href="${linkTo(shown, next)}">${further}</a>`,
    nextCursor !== '' && goesOn && ' · ',
    goesOn && html`<a href="${linkTo(shown)}">${first}</a>`,
  ]
  return all.some(Boolean) && html`<p>${all}</p>`
}

function accountForm({ formToken, uiLocales }: Shown, userId: string, step: string, content: Part): Html {
  return html`<form method="post" action="/ui/account/${step}">
    <input type="hidden" name="user_id" value="${userId}" />
    <input type="hidden" name="form_token" value="${formToken}" />
    ${uiLocales !== '' && html`<input type="hidden" name="ui_locales" value="${uiLocales}" />`} ${content}
  </form>`
}

function linkTo({ uiLocales }: Shown, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...parameters, ...(uiLocales !== '' && { ui_locales: uiLocales }) }).toString()
  return query === '' ? '/ui/account' : `/ui/account?${query}`
}
