import type { LeaveAccountRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { show } from '../../openid/authorization/answer.ts'
import { leavesBy, signOutThere } from '../sign-out/sign-out-there.ts'
import { openAccount } from './open-account.ts'
import { renewAtOnce } from '../../sessions/browsers/session-cookie.ts'
import type { Context } from '../../context.ts'
import { endSessions } from '../../sessions/browsers/end-sessions.ts'
import { deleteUserSessions } from '../../sessions/operations/session/delete-user-sessions.ts'

export async function leaveAccount(context: Context, request: LeaveAccountRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, '', call)
  if ('answer' in opened) return opened.answer
  const { userId, browser, call: own, to } = opened
  // Another person's page says it, where one is signed in here, too.
  const page = to('', 'signed-out')
  const here = [{ sessionId: own.caller.sessionId, userId }]
  const next = await leavesBy(context, here)
  const isHere = request.action === 'here'
  if (!isHere) await deleteUserSessions.handle(context, { userId }, own)
  const newBrowser = isHere ? await endSessions(context, browser, here, own) : await renewAtOnce(context.sql, browser)
  if (!next || page.answer?.$case !== 'redirect') return { ...page, newBrowser }
  const back = { location: page.answer.value.location, clientId: '', uiLocales: request.uiLocales }
  const there = await signOutThere(context, next, back, call)
  return { ...(there === undefined ? page : show({ $case: 'leaving', value: { location: there } })), newBrowser }
}
