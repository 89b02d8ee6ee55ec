import type { Sql, Statement, Transaction } from '#lib/database/database'
import type { Browser } from './session-cookie.ts'

/** A session of a browser, as one application used it. */
export interface BrowserSession {
  sessionId: string
  userId: string
  organizationId: string
  /** `last`: the application used it last in this browser. `noted`: and that was noted within the last minute. */
  use: 'noted' | 'last' | 'other'
}

const mostSessions = 10

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
export function keepSession({ id }: Browser, userId: string, sessionId: string): Statement[] {
  return [
    (sql) => sql`
      insert into browser_sessions (browser_id, user_id, session_id, used_at)
      values (${id}, ${userId}, ${sessionId}, roster_now())
      on conflict (browser_id, user_id) do update set session_id = excluded.session_id, used_at = excluded.used_at
    `,
    (sql) => sql`
      with surplus as (
        delete from browser_sessions where browser_id = ${id} and session_id in (
          select session_id from browser_sessions
          where browser_id = ${id} and session_id <> ${sessionId}
          order by used_at desc offset ${mostSessions - 1}
        )
        returning session_id
      ), gone as (
        delete from tokens where session_id <> '' and session_id in (select session_id from surplus) returning session_id, user_id
      )
      insert into surplus_sessions (session_id, user_id) select session_id, user_id from gone on conflict do nothing
    `,
  ]
}

/** Notes which session an application used. Of more than a hundred applications, the oldest is forgotten. */
export function noteUse({ id }: Pick<Browser, 'id'>, applicationId: string, sessionId: string) {
  return (sql: Sql | Transaction) => sql`select note_browser_use(${id}, ${applicationId}, ${sessionId})`
}
