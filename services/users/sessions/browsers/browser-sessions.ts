import type { ByFunction, Sql, Transaction } from '#lib/database/database'
import { rowsFor } from '../../row-function.ts'
import type { Browser } from './session-cookie.ts'

/** A session of a browser, as one application used it. */
export interface BrowserSession {
  sessionId: string
  userId: string
  organizationId: string
  /** `last`: the application used it last in this browser. `noted`: and that was noted within the last minute. */
  use: 'noted' | 'last' | 'other'
}

/** The sessions of a browser, the one used last first. A value that is not the present one has none. */
export function sessionsOf(browser: Browser | undefined, applicationId: string): BrowserSession[] {
  if (!browser?.isPresent) return []
  return browser.sessions.map(({ sessionId, userId, organizationId, isFresh, uses }) => {
    const used = Object.hasOwn(uses, applicationId) ? uses[applicationId] : undefined
    const use = used === undefined ? 'other' : used && isFresh ? 'noted' : 'last'
    return { sessionId, userId, organizationId, use }
  })
}

/** Gives a browser the session of a user. With more than ten, the one used least ends: its event follows, as that of a surplus session. */
export function keepSession({ id }: Pick<Browser, 'id'>, userId: string, sessionId: string): ByFunction {
  return keep({ browser_id: id, user_id: userId, session_id: sessionId })
}

const keep = rowsFor<{ browser_id: string; user_id: string; session_id: string }>('keep_browser_sessions')

/** Notes which session an application used. Of more than a hundred applications, the oldest is forgotten. */
export function noteUse({ id }: Pick<Browser, 'id'>, applicationId: string, sessionId: string) {
  return (sql: Sql | Transaction) => sql`select note_browser_use(${id}, ${applicationId}, ${sessionId})`
}

/** The same beside the events of a transaction. */
export function notingUse({ id }: Pick<Browser, 'id'>, applicationId: string, sessionId: string): ByFunction {
  return note({ browser_id: id, application_id: applicationId, session_id: sessionId })
}

const note = rowsFor<{ browser_id: string; application_id: string; session_id: string }>('note_browser_uses')
