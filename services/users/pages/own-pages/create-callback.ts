import {
  type CallbackSession,
  type CreateCallbackRequest,
  type CreateCallbackResponse,
  ErrorReason,
} from '#gen/roster/users/v1/auth_request_service'
import type { Call } from '#lib/rpc/headers'
import { callbackUrl, type Outcome } from '../../openid/authorization/answer.ts'
import { logMistake } from '../../openid/authorization/refuse-request.ts'
import { type OwnPagesRequest, openClientRequest, requestAnswered } from './client-request.ts'
import { grantToSession } from './grant-to-session.ts'
import type { Fault } from '../../openid/request/read-parameters.ts'
import { answerableBy } from '../../openid/request/request-object.ts'
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
        : await refuse(context, opened, { fault: faultOf[callbackKind!.value.error] ?? 'access_denied' })
    const parameters = answerableBy(opened.row.parameters, opened.reading)
    return { callbackUrl: callbackUrl(issuerOf(context.config), parameters, outcome) }
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
): Promise<Outcome> {
  const presented = await findPresented(context, sessionId, sessionToken)
  if (!presented) throw sessionNotFound()
  const outcome = await grantToSession(context, { row, reading, presented, consentGiven }, call)
  if ('code' in outcome) return outcome
  logMistake(context, row.parameters, outcome.mistake, 'answer', call)
  return refuse(context, { row }, outcome)
}

async function refuse({ sql }: Context, { row }: Pick<OwnPagesRequest, 'row'>, outcome: Outcome): Promise<Outcome> {
  if (!(await closeRequest(sql, row.id, 'given'))) throw requestAnswered()
  return outcome
}
