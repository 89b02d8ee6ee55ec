import type { Consent } from '#gen/roster/users/v1/session_service'
import { wishesOf } from '../consent.ts'
import { strong } from '../form.ts'
import { fill, html, type Html } from '../html.ts'
import { type Language, moment } from '../language/language.ts'
import { accountForm, type AccountShown, linksOf } from './account-frame.ts'

/** The applications that the person let in. */
export function appsPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { consents = [], total = 0, nextCursor = '', goesOn = false } = shown.page.consents ?? {}
  const items = consents.map(
    (consent, at) =>
      html`<li>
        <div id="consent-${at}">${consentText(shown.language, consent)}</div>
        <button class="other" name="application_id" value="${consent.applicationId}" aria-describedby="consent-${at}">
          ${text.takeBack}
        </button>
      </li> `,
  )
  return html`<h2>${text.consents} (${total})</h2>
    ${
      items.length === 0
        ? html`<p>${text.noConsents}</p>`
        : accountForm(
            shown,
            'consent',
            html`<ul class="list">
              ${items}
            </ul>`,
          )
    }
    ${linksOf(shown, { nextCursor, goesOn }, { consents_cursor: nextCursor }, [text.furtherConsents, text.firstConsents])}`
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
