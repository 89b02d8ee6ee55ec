import { createHash } from 'node:crypto'
import { orUnavailable, type Sql, type Write } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'

/** So many sessions end by one word of a provider. */
const most = 1000

/**
 * Keeps by which session at a provider a session here was opened, of each provider the last one, and what the last of them gave
 * then.
 */
export function keepingProviderSession(
  { sessionId, userId }: { sessionId: string; userId: string },
  {
    idpId,
    issuer,
    sid = '',
    tokens = null,
  }: { idpId: string; issuer: string; sid?: string | undefined; tokens?: string | null | undefined },
): Write {
  const hash = sid === '' ? null : sidHash(issuer, sid)
  return (sql) => sql`
    with others as (
      update provider_sessions set tokens = null
      where session_id = ${sessionId} and idp_id <> ${idpId} and tokens is not null
    )
    insert into provider_sessions (session_id, idp_id, user_id, sid, tokens, proved_at)
    values (${sessionId}, ${idpId}, ${userId}, ${hash}, ${tokens}, roster_now())
    on conflict (session_id, idp_id) do update
      set sid = excluded.sid, tokens = excluded.tokens, proved_at = excluded.proved_at
  `
}

/** The sessions that a provider's word ends: those of its session `sid`, else those of the user whom it names. */
export async function findProviderSessions(
  sql: Sql,
  { idpId, issuer, sid, userId }: { idpId: string; issuer: string; sid: string; userId: string | undefined },
): Promise<{ sessionId: string; userId: string }[]> {
  return orUnavailable(sql<{ sessionId: string; userId: string }[]>`
    select session_id as "sessionId", user_id as "userId" from provider_sessions
    where idp_id = ${idpId} ${sid === '' ? sql`` : sql`and sid = ${sidHash(issuer, sid)}`}
      ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}
    limit ${most}
  `)
}

/** Deletes those whose session is over. */
export async function deleteProviderSessions(sql: Sql): Promise<void> {
  const isOver = sql`not exists (select from tokens where tokens.session_id = provider_sessions.session_id)`
  await deleteInPortions(sql, 'provider_sessions', isOver)
}

/** The provider's name of a session is nothing that Roster needs. */
export function sidHash(issuer: string, sid: string): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, sid]))
    .digest('base64url')
}
