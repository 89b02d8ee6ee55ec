import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { refusalOfPerson } from '../arrivals/refused.ts'
import { refusalOfRequest } from '../request/refused-request.ts'
import { asSent, mostOfClientId, mostOfUri } from '../request/as-sent.ts'
import { describe, type Mistake } from '../request/mistakes.ts'
import type { Parameters } from '../request/parameters.ts'
import type { RequestedApplication, Unanswerable } from '../request/read-parameters.ts'
import { hostOf } from '../request/redirect-uri.ts'
import { answerApplication, notice } from './answer.ts'
import type { Candidate } from './candidates.ts'

/** The page of a request that no application gets an answer to: its client or its redirect URI is unknown. */
export function refuseUnknown(
  context: Pick<Context, 'log' | 'arrivals'>,
  parameters: Parameters,
  { notice: reason, nearest = '' }: Unanswerable,
  call: Call,
): PageAnswer {
  const isClient = reason === NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN
  const parameter = isClient ? 'client_id' : 'redirect_uri'
  const why = isClient ? 'names no client that is there and active' : 'is none that the application has registered'
  logRefusal(context, parameters, { parameter, reason: `${parameter} ${why}.`, refusedAt: 'page' }, call)
  if (!isClient)
    context.arrivals.refuse(
      refusalOfRequest(parameters, { parameter, description: `${parameter} ${why}.` }),
      call.clientAddress,
    )
  const clientId = asSent(parameters.clientId, mostOfClientId)
  const redirectUri = isClient ? '' : asSent(parameters.redirectUri, mostOfUri)
  const page = notice(reason, { clientId, redirectUri, nearestRedirectUri: nearest })
  return { ...page, uiLocales: parameters.uiLocales }
}

/** The page of a faulty request. It leads back to the application only by a click (RFC 9700 section 4.11.2). */
export function showMistake(
  context: Pick<Context, 'log' | 'config' | 'arrivals'>,
  parameters: Parameters,
  { application, mistake }: Faulty,
  call: Call,
): PageAnswer {
  logMistake(context, parameters, mistake, 'page', call)
  const { answer } = answerApplication(issuerOf(context.config), parameters, { mistake }, false)
  const { parameter, rule, values } = mistake
  return {
    ...notice(NoticeReason.NOTICE_REASON_REQUEST_FAULTY, {
      mistake: { parameter, rule, values },
      ...(answer?.$case === 'redirect' && { location: answer.value.location }),
      ...(answer?.$case === 'formPost' && { formPost: answer.value }),
    }),
    uiLocales: parameters.uiLocales,
    destination: { applicationName: application.name, host: hostOf(parameters.redirectUri) },
  }
}

/** Tells the application at once. */
export function answerMistake(
  context: Pick<Context, 'log' | 'config' | 'arrivals'>,
  parameters: Parameters,
  { mistake }: Pick<Faulty, 'mistake'>,
  call: Call,
): PageAnswer {
  logMistake(context, parameters, mistake, 'answer', call)
  return answerApplication(issuerOf(context.config), parameters, { mistake }, false)
}

type Faulty = Pick<RequestedApplication, 'application'> & { mistake: Mistake }

/** Logs a faulty request where it is refused, and notes it for its application. */
export function logMistake(
  context: Pick<Context, 'log' | 'arrivals'>,
  parameters: Parameters,
  mistake: Mistake,
  refusedAt: 'page' | 'answer',
  call: Call,
): void {
  const { error, parameter } = mistake
  const reason = describe(mistake)
  logRefusal(context, parameters, { error, parameter, reason, refusedAt }, call)
  const { values } = mistake
  const refusal = refusalOfRequest(parameters, { parameter, description: reason, allowed: values })
  context.arrivals.refuse(refusal, call.clientAddress)
}

/** Writes into the log who is signed in and may not come to the application, and why. The application is told no cause. */
export function logShutOut(
  { log, arrivals }: Pick<Context, 'log' | 'arrivals'>,
  { clientId }: Parameters,
  people: Candidate[],
  refusedAt: 'page' | 'answer',
  { requestId, clientAddress }: Call,
): void {
  for (const { signedInUser, verdict } of people)
    if ('shutOut' in verdict) {
      log.info(
        { requestId, clientId, userId: signedInUser.userId, reason: verdict.shutOut, refusedAt },
        'a person was not let in',
      )
      arrivals.refuse(refusalOfPerson(clientId, verdict.shutOut), clientAddress)
    }
}

// A stranger makes these lines. They are as many as the gateway's own of such calls, and short; no value is in them.
function logRefusal(
  { log }: Pick<Context, 'log'>,
  { clientId }: Parameters,
  why: { error?: string; parameter: string; reason: string; refusedAt: 'page' | 'answer' },
  { requestId }: Call,
): void {
  const line = { requestId, clientId: asSent(clientId, mostOfClientId), ...why }
  log.info(line, 'an authorization request was refused')
}
