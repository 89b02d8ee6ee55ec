import type {
  SearchMySessionsRequest,
  SearchMySessionsResponse,
  SearchUserSessionsRequest,
  SearchUserSessionsResponse,
} from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import type { Paging } from '#lib/search/cursor'
import { search } from '#lib/search/search'
import type { User } from '../../../directory/events/user.ts'
import { loadTrust } from '../../browsers/trusted-without-session.ts'
import type { Context } from '../../../context.ts'
import { findLastSignIns } from '../../records/show-sign-ins.ts'
import { sessionSinceOpen } from '../../../directory/organizations/in-open-organization.ts'

export async function searchMySessions(
  context: Context,
  request: SearchMySessionsRequest,
  call: Call,
): Promise<SearchMySessionsResponse> {
  return searchSessions(context, 'SearchMySessions', call.caller.userId, request, call)
}

export async function searchUserSessions(
  context: Context,
  request: SearchUserSessionsRequest,
  call: Call,
): Promise<SearchUserSessionsResponse> {
  return searchSessions(context, 'SearchUserSessions', request.userId, request, call)
}

async function searchSessions(
  context: Context,
  method: string,
  userId: string,
  request: Paging,
  call: Call,
): Promise<SearchMySessionsResponse> {
  const { sql } = context
  const { rows, nextCursor, total } = await search<SessionRow>(context, {
    method,
    request,
    call,
    columns: sql`
      t.session_id as id, t.expires_at as "expirationDate", b.used_at as "lastUseDate",
      (select created_at from aggregates a where a.type = 'session' and a.id = t.session_id) as "creationDate",
      (select state ->> 'trustId' from aggregates a where a.type = 'session' and a.id = t.session_id) as "trustId"
    `,
    from: sql`tokens t`,
    // A session has one browser, if any.
    shown: sql`left join browser_sessions b on b.session_id = t.session_id`,
    where: sql`t.user_id = ${userId} and t.session_id <> '' and t.expires_at > roster_now()
      and ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)}`,
    // The ids are UUIDs of version 7, which hold the time.
    order: { by: [{ column: sql`t.session_id collate "C"`, type: 'text' }], descending: true },
  })
  const [lastSignIns, user] = await Promise.all([
    findLastSignIns(
      context,
      userId,
      rows.map(({ id }) => id),
    ),
    context.store.load<User>('user', userId),
  ])
  const trust = await loadTrust(context, user)
  const sessions = rows.map(({ id, creationDate, expirationDate, lastUseDate, trustId }) => ({
    id,
    sessionId: id,
    creationDate,
    expirationDate,
    isCurrent: id === call.caller.sessionId,
    inBrowser: lastUseDate !== null,
    lastUseDate: lastUseDate ?? undefined,
    lastSignIn: lastSignIns.get(id),
    trustedUntil: trust.until(id, trustId),
  }))
  const trustedBrowsers = request.cursor === '' ? await trust.withoutSession() : []
  return { sessions, nextCursor, total, trustedBrowsers }
}

interface SessionRow {
  id: string
  creationDate: Date
  expirationDate: Date
  /** Null: it is none of a browser. */
  lastUseDate: Date | null
  trustId: string | null
}
