import {
  type CallbackSession,
  type CreateCallbackRequest,
  type CreateCallbackResponse,
  ErrorReason,
} from '#gen/roster/users/v1/auth_request_service'
import type { Call } from '#lib/rpc/headers'
import { callbackUrl } from '../../openid/authorization/answer.ts'
import { type OwnPagesRequest, openClientRequest, requestAnswered } from './client-request.ts'
import { grantToSession } from './grant-to-session.ts'
import type { Fault } from '../../openid/request/read-parameters.ts'
import { closeRequest } from '../../openid/request/request-row.ts'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { findPresented } from '../../sessions/presented-session.ts'
import { sessionNotFound } from '../../sessions/sessions.ts'

export const createCallback = {
  // A code is told once. Who lost it begins again.
  ignoresKey: () => true,

  async handle(
    context: Context,
    { authRequestId, callbackKind }: CreateCallbackRequest,
    call: Call,
  ): Promise<CreateCallbackResponse> {
    const opened = await openClientRequest(context, authRequestId, call)
    const outcome =
      callbackKind?.$case === 'session'
        ? await answerBy(context, opened, callbackKind.value, call)
        : await refuse(context, opened, faultOf[callbackKind!.value.error] ?? 'access_denied')
    return { callbackUrl: callbackUrl(issuerOf(context.config), opened.row.parameters, outcome) }
  },
}

const faultOf: Partial<Record<ErrorReason, Fault>> = {
  [ErrorReason.ERROR_REASON_SERVER_ERROR]: 'server_error',
  [ErrorReason.ERROR_REASON_TEMPORARY_UNAVAILABLE]: 'temporarily_unavailable',
  [ErrorReason.ERROR_REASON_INTERACTION_REQUIRED]: 'interaction_required',
  [ErrorReason.ERROR_REASON_LOGIN_REQUIRED]: 'login_required',
  [ErrorReason.ERROR_REASON_ACCOUNT_SELECTION_REQUIRED]: 'account_selection_required',
  [ErrorReason.ERROR_REASON_CONSENT_REQUIRED]: 'consent_required',
}

async function answerBy(
  context: Context,
  { row, reading }: OwnPagesRequest,
  { sessionId, sessionToken, consentGiven }: CallbackSession,
  call: Call,
): Promise<{ code: string } | { fault: Fault }> {
  const presented = await findPresented(context, sessionId, sessionToken)
  if (!presented) throw sessionNotFound()
  const outcome = await grantToSession(context, { row, reading, presented, consentGiven }, call)
  return 'fault' in outcome ? refuse(context, { row }, outcome.fault) : outcome
}

async function refuse(
  { sql }: Context,
  { row }: Pick<OwnPagesRequest, 'row'>,
  fault: Fault,
): Promise<{ fault: Fault }> {
  if (!(await closeRequest(sql, row.id, 'given'))) throw requestAnswered()
  return { fault }
}
