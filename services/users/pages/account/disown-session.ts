import type { DisownSessionRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { distrustBrowser } from '../../sessions/browsers/trusted-browser.ts'
import type { Session } from '../../sessions/events/session.ts'
import { endSession, ownerOf } from '../../sessions/sessions.ts'
import { openAccount } from './open-account.ts'

/** Ends a session that somebody else began, and asks for a new password: the present one may be known. */
export async function disownSession(context: Context, request: DisownSessionRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'activity', call)
  if ('answer' in opened) return opened.answer
  const { userId, call: own, to } = opened
  const { sessionId } = request
  const session = await context.store.load<Session>('session', sessionId)
  // Where the session is over, its browser may be trusted on.
  const trustId = session?.state.userId === userId ? session.state.trustId : undefined
  await distrustBrowser(context, { userId, sessionId, trustId }, own)
  if (sessionId !== own.caller.sessionId && (await ownerOf(context, sessionId))?.userId === userId)
    await context.store.execute({ ...endSession(sessionId), call: own })
  return to('password', 'not-me')
}
