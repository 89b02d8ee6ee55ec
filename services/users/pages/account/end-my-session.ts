import type { EndMySessionRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { openAccount } from './open-account.ts'
import { distrustBrowser } from '../../sessions/browsers/trusted-browser.ts'
import type { Session } from '../../sessions/events/session.ts'
import type { Context } from '../../context.ts'
import { endSession, ownerOf } from '../../sessions/sessions.ts'
import { endSessions } from '../../sessions/browsers/end-sessions.ts'

export async function endMySession(context: Context, request: EndMySessionRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'activity', call)
  if ('answer' in opened) return opened.answer
  const { userId, browser, call: own, page } = opened
  const { sessionId } = request
  const session = await context.store.load<Session>('session', sessionId)
  // Where the session is over, its browser may be trusted on.
  const trustId = session?.state.userId === userId ? session.state.trustId : undefined
  await distrustBrowser(context, { userId, sessionId, trustId }, own)
  if (sessionId === own.caller.sessionId)
    return { ...page, newBrowser: await endSessions(context, browser, [{ sessionId, userId }], own) }
  const owner = await ownerOf(context, sessionId)
  if (owner?.userId === userId) await context.store.execute({ ...endSession(sessionId), call: own })
  return page
}
