import { orUnavailable, type Sql, type Statement } from '#lib/database/database'
import { sessionSinceOpen } from '../../directory/organizations/in-open-organization.ts'
import type { Browser } from './session-cookie.ts'

/** A session of a browser. */
export interface BrowserSession {
  sessionId: string
  userId: string
  organizationId: string
  /** The application used it last in this browser. */
  isLastUsed: boolean
  /** That was noted within the last minute, and need not be noted again. */
  isNoted: boolean
}

const mostSessions = 10
const mostApplications = 100

/**
 * The sessions of a browser that have not ended, the one used last first. A value that is not the present one has none.
 * UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function sessionsOf(
  sql: Sql,
  browser: Browser | undefined,
  applicationId: string,
): Promise<BrowserSession[]> {
  if (!browser?.isPresent) return []
  return orUnavailable(sql<BrowserSession[]>`
    select s.session_id as "sessionId", s.user_id as "userId", t.organization_id as "organizationId",
      u.session_id is not null as "isLastUsed",
      u.session_id is not null and least(u.used_at, s.used_at) > roster_now() - interval '1 minute' as "isNoted"
    from browser_sessions s
    join tokens t on t.session_id <> '' and t.session_id = s.session_id and t.expires_at > roster_now()
    left join browser_uses u
      on u.browser_id = s.browser_id and u.application_id = ${applicationId} and u.session_id = s.session_id
    where s.browser_id = ${browser.id} and ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)}
    order by s.used_at desc
  `)
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
export function noteUse({ id }: Browser, applicationId: string, sessionId: string): Statement[] {
  return [
    (sql) => sql`
      insert into browser_uses (browser_id, application_id, session_id, used_at)
      values (${id}, ${applicationId}, ${sessionId}, roster_now())
      on conflict (browser_id, application_id) do update
      set session_id = excluded.session_id, used_at = excluded.used_at
    `,
    (sql) => sql`
      delete from browser_uses where browser_id = ${id} and application_id in (
        select application_id from browser_uses where browser_id = ${id}
        order by used_at desc offset ${mostApplications}
      )
    `,
    (sql) => sql`
      update browser_sessions set used_at = roster_now() where browser_id = ${id} and session_id = ${sessionId}
    `,
  ]
}
