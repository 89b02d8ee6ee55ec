import type { PageAnswer, SignOutRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { openForm, signingOut } from '../../sign-in/opened-request.ts'
import { closeRequest, advance } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import { endSessions } from '../../../sessions/browsers/end-sessions.ts'
import { leavesBy } from '../../sign-out/sign-out-there.ts'
import { signedInAccounts } from '../../sign-out/signed-in-accounts.ts'

export async function signOut(context: Context, request: SignOutRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingOut)
  if ('answer' in opened) return opened.answer
  const { browser, row } = opened
  const page = signingOut.toPage(row.id)
  const { action, sessionId } = request
  if (action === 'stay') {
    await closeRequest(context.sql, row.id, 'cancelled')
    return page
  }
  const accounts = await signedInAccounts(context, browser)
  const chosen = action === 'all' ? accounts : accounts.filter((account) => account.sessionId === sessionId)
  // Who is signed out already is not on the page any more.
  if (chosen.length === 0) return page
  const next = await leavesBy(context, chosen)
  const newBrowser = await endSessions(context, browser, chosen, call)
  await orUnavailable(advance(context.keys, row.id, { decision: 'allowed', leavesBy: next })(context.sql))
  return { ...page, newBrowser }
}
