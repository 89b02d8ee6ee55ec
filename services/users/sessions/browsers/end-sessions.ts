import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { type Browser, renewAtOnce } from './session-cookie.ts'
import type { Context } from '../../context.ts'
import { endSession } from '../sessions.ts'

/**
 * Ends sessions of a browser, and returns the new value of its cookie; empty where another tab was faster. What they
 * leave behind is as after DeleteSession.
 */
export async function endSessions(
  { sql, store }: Pick<Context, 'sql' | 'store'>,
  browser: Browser,
  sessions: { sessionId: string; userId: string }[],
  { requestId, deadline }: Call,
): Promise<string> {
  await Promise.all(
    sessions.map(({ sessionId, userId }) =>
      store.execute({ ...endSession(sessionId), call: { caller: { userId }, requestId, deadline } }),
    ),
  )
  await orUnavailable(sql`update browsers set signed_out_at = roster_now() where id = ${browser.id}`)
  // Last: before that, a caller with the value could sign out again.
  return renewAtOnce(sql, browser)
}
