import { orUnavailable } from '#lib/database/database'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import type { Context } from '../context.ts'
import { sessionSinceOpen } from '../directory/organizations/in-open-organization.ts'
import { hashToken } from '../directory/tokens/token.ts'
import type { Session } from './events/session.ts'
import { findHalfDone, type HalfDoneSession } from './half-done-sessions.ts'

/** A living session whose token was presented. */
export type PresentedSession = { halfDone: HalfDoneSession } | { whole: Read<Existing<Session>> }

/** Undefined also for a session that exists, with another token. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findPresented(
  context: Pick<Context, 'sql' | 'store'>,
  sessionId: string,
  token: string,
): Promise<PresentedSession | undefined> {
  // First: whatever changes the token after this changes the session.
  const whole = await context.store.load<Session>('session', sessionId)
  if (!whole) {
    const halfDone = await findHalfDone(context.sql, sessionId, token)
    return halfDone && { halfDone }
  }
  const [row] = await orUnavailable(context.sql`
    select from tokens t
    where hash = ${hashToken(token)} and session_id = ${sessionId} and expires_at > roster_now()
      and ${sessionSinceOpen(context.sql, context.sql`t.organization_id`, context.sql`t.session_id`)}
  `)
  return row && !whole.state.ended ? { whole } : undefined
}
