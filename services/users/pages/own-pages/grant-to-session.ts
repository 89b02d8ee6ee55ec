import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import { judge, type Missing, type ShutOut } from '../../openid/judge/judge.ts'
import type { PresentedSession } from '../../sessions/presented-session.ts'
import { sessionNotFound } from '../../sessions/sessions.ts'
import { type OwnPagesRequest, requestAnswered } from './client-request.ts'
import { giveConsent } from '../../openid/consents/consent.ts'
import { factsFrom, loadSignedInUser } from '../../openid/authorization/facts-of.ts'
import { grantCode } from '../../openid/authorization/grant-code.ts'
import { isSilent } from '../../openid/request/parameters.ts'
import type { Mistake } from '../../openid/request/mistakes.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'
import { advance } from '../../openid/request/request-row.ts'

/** A request, and the session that a login application answers it by. */
export interface Answering extends OwnPagesRequest {
  presented: PresentedSession
  /** The person allowed it, on a page of the login application. */
  consentGiven: boolean
}

/**
 * Grants an application what it asks for; or the fault of what it asks for. Where something is missing: the errors of
 * `refusal`. FAILED_PRECONDITION AUTH_REQUEST_ANSWERED; RESOURCE_EXHAUSTED LIMIT_REACHED.
 */
export async function grantToSession(
  context: Context,
  { row, reading, presented, consentGiven }: Answering,
  call: Call,
): Promise<{ code: string } | { mistake: Mistake }> {
  if ('halfDone' in presented) throw factorRequired()
  if ('mistake' in reading) return { mistake: reading.mistake }
  const { application, project, asked } = reading
  const { parameters } = row
  const silent = isSilent(parameters)
  const stage = silent ? 'silent' : 'session-api'
  const { id: sessionId, organizationId, state } = presented.whole
  const { userId } = state
  const unloaded = { application, project, sessionId, userId, organizationId, browserId: undefined }
  let loaded = await loadSignedInUser(context, unloaded, call)
  // Who chose the session is the login application. Where it may show no page, the person allowed nothing.
  const isAllowed = consentGiven && !silent
  const facts = requestFacts(asked, row.beganAt, { chosen: true, ...(isAllowed && { decision: 'allowed' }) })
  const now = presented.whole.readAt
  if (isAllowed && (await keepConsent())) loaded = await loadSignedInUser(context, unloaded, call)
  try {
    const requestId = row.id
    const granted = await grantCode(
      context,
      { stage, ...loaded, browser: undefined, parameters, asked, facts, requestId },
      call,
    )
    if ('code' in granted) return granted
    throw refusal(granted)
  } catch (error) {
    throw error instanceof Superseded ? requestAnswered() : error
  }

  // Whether anything was given.
  async function keepConsent(): Promise<boolean> {
    const { signedInUser, reads } = loaded
    const verdict = judge(stage, factsFrom(signedInUser, reads, facts, now), now)
    const lack = 'missing' in verdict ? verdict.missing[0] : undefined
    if (lack?.what !== 'consent') return false
    const next = advance(context.keys, row.id, { ...row.progress, decision: 'allowed' })
    await giveConsent(context, signedInUser, lack.scopes, { requestId: row.id, next }, call).catch((error: unknown) => {
      // What is so now is said next.
      if (!(error instanceof Superseded)) throw error
    })
    return true
  }
}

function refusal(lacking: Missing | ShutOut): RosterError {
  if ('shutOut' in lacking)
    return new RosterError(
      'FAILED_PRECONDITION',
      'PERSON_NOT_ADMITTED',
      lacking.shutOut === 'other-person'
        ? 'The application wants another person.'
        : 'The person may not come to the application.',
    )
  const [lack] = lacking.missing
  switch (lack.what) {
    case 'factor':
    case 'fresh-factor':
    case 'unmet-context':
      return factorRequired()
    case 'new-password':
      return factorRequired('The person has to choose another password first: somebody else set the present one.')
    case 'consent':
      return consentRequired(`The person has to allow the application: ${lack.scopes.join(' ') || 'its first use'}.`)
    case 'click':
      return consentRequired('The person has to allow the application to go on.')
    default:
      return sessionNotFound()
  }
}

function factorRequired(message = 'The password, or a second factor, has to be checked first.'): RosterError {
  return new RosterError('FAILED_PRECONDITION', 'FACTOR_REQUIRED', message)
}

function consentRequired(message: string): RosterError {
  return new RosterError('FAILED_PRECONDITION', 'CONSENT_REQUIRED', message)
}
