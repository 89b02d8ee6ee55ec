import type { LeaveAccountRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { openAccount } from './open-account.ts'
import { renewAtOnce } from '../../sessions/browsers/session-cookie.ts'
import type { Context } from '../../context.ts'
import { endSessions } from '../../sessions/browsers/end-sessions.ts'
import { deleteUserSessions } from '../../sessions/operations/delete-user-sessions.ts'

export async function leaveAccount(context: Context, request: LeaveAccountRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, '', call)
  if ('answer' in opened) return opened.answer
  const { userId, browser, call: own, to } = opened
  // Another person's page says it, where one is signed in here, too.
  const page = to('', 'signed-out')
  if (request.action === 'here') {
    const { sessionId } = own.caller
    return { ...page, newBrowser: await endSessions(context, browser, [{ sessionId, userId }], own) }
  }
  await deleteUserSessions.handle(context, { userId }, own)
  return { ...page, newBrowser: await renewAtOnce(context.sql, browser) }
}
