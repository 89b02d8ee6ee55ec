import type { Session } from '#gen/roster/users/v1/session_service'
import { fill, html, type Html } from '../html.ts'
import { type Language, moment } from '../language.ts'
import { accountForm, type AccountShown, linksOf } from './account-frame.ts'

/** Where the person is signed in. */
export function activityPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { sessions = [], total = 0, nextCursor = '', goesOn = false } = shown.page.sessions ?? {}
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
    ${accountForm(
      shown,
      'session',
      html`<ul class="list">
        ${items}
      </ul>`,
    )}
    ${linksOf(shown, { nextCursor, goesOn }, { sessions_cursor: nextCursor }, [text.furtherSessions, text.firstSessions])}
    <h2>${text.leaveEverywhere}</h2>
    <p id="everywhere">${text.leaveHint}</p>
    ${accountForm(
      shown,
      'sign-out',
      html`<button class="other" name="action" value="everywhere" aria-describedby="everywhere">
        ${text.leaveEverywhere}
      </button>`,
    )}`
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
