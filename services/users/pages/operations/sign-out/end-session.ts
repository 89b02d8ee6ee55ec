import { type EndSessionRequest, NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { notice, redirect } from '../../../openid/authorization/answer.ts'
import { branded } from '../../sign-in/branded.ts'
import { areTooLarge, isSignOut, signOutParametersOf } from '../../../openid/request/parameters.ts'
import { beginRequest, takePosted } from '../../../openid/request/request-row.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'
import { findBrowser } from '../../../sessions/browsers/session-cookie.ts'
import type { Context } from '../../../context.ts'
import { beginSignOut } from '../../sign-out/sign-out.ts'

export async function endSession(context: Context, request: EndSessionRequest, call: Call): Promise<PageAnswer> {
  const { browser: value, posted, postedRequest } = request
  const came = signOutParametersOf(request)
  if (areTooLarge(came)) return branded(context, notice(NoticeReason.NOTICE_REASON_TOO_LARGE))
  if (posted) {
    // Across sites it comes without its cookie, so none counts.
    const begun = { parameters: came, browserId: undefined, address: call.clientAddress }
    return redirect(`/oidc/v1/end_session?posted_request=${await beginRequest(context, begun)}`)
  }
  const parameters = postedRequest === '' ? came : await takePosted(context, postedRequest, isSignOut)
  if (!parameters) return requestUnknown(context)
  return beginSignOut(context, parameters, { value, ...(await findBrowser(context.sql, value)) }, call)
}
