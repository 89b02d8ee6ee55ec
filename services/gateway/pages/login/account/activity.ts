import type { Session, SignInClient, SignInRecord, TrustedBrowser } from '#gen/roster/users/v1/session_service'
import { apart, strong } from '../form.ts'
import { fill, html, type Html, type Part } from '../html.ts'
import { type Language, moment } from '../language/language.ts'
import { accountForm, type AccountShown, linksOf } from './account-frame.ts'

/** Where the person is signed in, and where somebody signed in of late. */
export function activityPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { sessions = [], total = 0, nextCursor = '', goesOn = false } = shown.page.sessions ?? {}
  const next = { sessions_cursor: nextCursor }
  const items = sessions.map(
    (session, at) =>
      html`<li class="row">
        <div id="session-${at}">${sessionText(shown.language, session)}</div>
        ${
          !session.isCurrent &&
          html`<span>
            <button class="other" name="session_id" value="${session.id}" aria-describedby="session-${at}">
              ${text.endSession}
            </button>
            ${notMeButton(shown.language, session.id, `session-${at}`)}
          </span>`
        }
      </li> `,
  )
  return html`<h2>${fill(text.sessions, { count: total })}</h2>
    ${accountForm(shown, 'session', list(items))}
    ${linksOf(shown, { nextCursor, goesOn }, next, [text.furtherSessions, text.firstSessions])}
    <p id="not-me" class="hint">${text.notMeHint}</p>
    ${trustedPart(shown)} ${signInsPart(shown)}
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

// Of those that are signed in, the list of these says it.
function trustedPart(shown: AccountShown): Part {
  const { language, page } = shown
  const { text } = language
  const browsers = page.sessions?.trustedBrowsers ?? []
  if (browsers.length === 0) return false
  const items = browsers.map(
    (browser, at) =>
      html`<li class="row">
        <div id="trusted-${at}">${trustedText(language, browser)}</div>
        <span>
          <button class="other" name="session_id" value="${browser.sessionId}" aria-describedby="trusted-${at}">
            ${text.distrust}
          </button>
        </span>
      </li> `,
  )
  return html`<h2>${fill(text.trusted, { count: browsers.length })}</h2>
    <p class="hint">${text.trustedHint}</p>
    ${accountForm(shown, 'session', list(items))}`
}

function trustedText(language: Language, { trustedDate, trustedUntil, lastSignIn }: TrustedBrowser): Html {
  const { text } = language
  const { browser = '', system = '' } = lastSignIn?.client ?? {}
  const facts = [
    trustedDate && fill(text.trustedSince, { time: moment(language, trustedDate) }),
    trustedUntil && fill(text.sessionTrusted, { time: moment(language, trustedUntil) }),
    fromText(language, lastSignIn?.client),
  ]
  return html`<strong>${nameOf(language, browser, system)}</strong> ${factsText(facts)}`
}

function signInsPart(shown: AccountShown): Part {
  const { signIns: part, account } = shown.page
  if (!part) return false
  const { text } = shown.language
  const { signIns, total, nextCursor, goesOn, keptDays } = part
  const items = signIns.map(
    (signIn, at) =>
      html`<li class="row">
        <div id="sign-in-${at}">${signInText(shown.language, signIn)}</div>
        ${signIn.sessionId !== account?.sessionId && notMeButton(shown.language, signIn.sessionId, `sign-in-${at}`)}
      </li> `,
  )
  return html`<h2>${fill(text.signIns, { count: total })}</h2>
    ${items.length > 0 && accountForm(shown, 'not-me', list(items))}
    ${linksOf(shown, { nextCursor, goesOn }, { sign_ins_cursor: nextCursor }, [text.furtherSignIns, text.firstSignIns])}
    <p class="hint">${fill(text.signInsHint, { days: keptDays })}</p>`
}

function list(items: Html[]): Html {
  return html`<ul class="list">
    ${items}
  </ul>`
}

function notMeButton({ text }: Language, sessionId: string, about: string): Html {
  return html`<button
    class="other danger"
    name="session_id"
    value="${sessionId}"
    formaction="/ui/account/not-me"
    aria-describedby="${about} not-me"
  >
    ${text.notMe}
  </button>`
}

function sessionText(language: Language, session: Session): Html {
  const { text } = language
  const { isCurrent, inBrowser, creationDate, lastUseDate, expirationDate, trustedUntil, lastSignIn } = session
  const kind = isCurrent ? text.thisBrowser : inBrowser ? text.someBrowser : text.someProgram
  const named = lastSignIn?.client?.browser
  const facts = [
    creationDate && fill(text.sessionBegan, { time: moment(language, creationDate) }),
    lastUseDate && fill(text.sessionUsed, { time: moment(language, lastUseDate) }),
    expirationDate && fill(text.sessionEnds, { time: moment(language, expirationDate) }),
    trustedUntil && fill(text.sessionTrusted, { time: moment(language, trustedUntil) }),
    fromText(language, lastSignIn?.client),
  ]
  return html`${(isCurrent || !named) && html`<strong>${kind}</strong>`}${isCurrent && named && ' · '}
  ${named && clientText(language, lastSignIn)} ${factsText(facts)}`
}

function signInText(language: Language, signIn: SignInRecord): Html {
  const { text } = language
  const { signInDate, client, isPartial } = signIn
  const facts = [
    signInDate && moment(language, signInDate),
    fromText(language, client),
    isPartial && html`${text.signInPartial}`,
  ]
  return html`${clientText(language, signIn)} ${factsText(facts)}`
}

// Such as: Firefox on Linux, to Billing.
function clientText({ text }: Language, { client, applicationName }: SignInRecord): Html {
  const { browser = '', system = '' } = client ?? {}
  const shown = html`<strong>${nameOf({ text }, browser, system)}</strong>`
  return applicationName === '' ? shown : fill(text.clientTo, { client: shown, application: strong(applicationName) })
}

function nameOf({ text }: Pick<Language, 'text'>, browser: string, system: string): Part {
  return browser && system ? fill(text.clientOn, { browser, system }) : browser || system || text.unknownClient
}

function fromText({ text }: Language, client: SignInClient | undefined): Part {
  return client?.address && fill(text.signInFrom, { address: apart(client.address) })
}

function factsText(facts: Part[]): Html {
  const known = facts.filter(Boolean)
  return html`<span class="hint fact">${known.map((fact, at) => [at > 0 && ' · ', fact])}</span>`
}
