import { type AuthorizeRequest, NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import { notice, redirect } from '../../../openid/authorization/answer.ts'
import { begin } from '../../../openid/authorization/begin.ts'
import { loadApplication } from '../../../openid/applications/find-application.ts'
import { branded } from '../../sign-in/branded.ts'
import { areTooLarge, isSignIn, isSilent, parametersOf } from '../../../openid/request/parameters.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'
import { nameById } from '../../../openid/request/read-scopes.ts'
import { beginRequest, takePosted } from '../../../openid/request/request-row.ts'
import { findBrowser } from '../../../sessions/browsers/session-cookie.ts'
import type { Context } from '../../../context.ts'
import { rememberReads } from '../../../remember-reads.ts'

export async function authorize(own: Context, request: AuthorizeRequest, call: Call): Promise<PageAnswer> {
  const context = rememberReads(own)
  const { browser: value, posted, postedRequest } = request
  const came = parametersOf(request)
  if (areTooLarge(came)) return branded(context, notice(NoticeReason.NOTICE_REASON_TOO_LARGE))
  // Across sites a POST comes without its cookie, so none counts.
  const [found] = await Promise.all([
    findBrowser(context.sql, posted ? '' : value),
    // What is read here is known for a moment, and an error comes where it is needed.
    loadApplication(context, { clientId: came.clientId }).catch(() => {}),
    isBesideFormer(context.sql).catch(() => {}),
  ])
  const visit = { value, ...found }
  // The browser is about to get a new cookie. A request without a page is repeated once, with that cookie.
  const isOvertaken = visit.browser?.isPresent === false && isSilent(came)
  if (posted || isOvertaken) {
    const begun = { parameters: came, browserId: undefined, address: call.clientAddress }
    return redirect(`/oauth/v2/authorize?posted_request=${await beginRequest(context, begun)}`)
  }
  const parameters = postedRequest === '' ? came : await takePosted(context, postedRequest, isSignIn)
  if (!parameters) return requestUnknown(context)
  const readable = { ...parameters, scope: await nameById(context, parameters.scope, call) }
  return branded(context, await begin(context, readable, visit, call), readable)
}
