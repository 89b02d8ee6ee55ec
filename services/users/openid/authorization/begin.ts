import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { limitsHit } from '#lib/limits-hit'
import type { Call } from '#lib/rpc/headers'
import { createBucket, createRecent, wait, wear } from '#lib/token-bucket'
import { type Browser, newCookie, seeBrowser } from '../../sessions/browsers/session-cookie.ts'
import type { Context } from '../../context.ts'
import type { Lack } from '../judge/judge.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { answerApplication, type Outcome, toPage } from './answer.ts'
import { type Candidate, chooseAlone, chooseSilently, findCandidates } from './candidates.ts'
import { type Grantable, grantCode } from './grant-code.ts'
import { isSilent, type Parameters } from '../request/parameters.ts'
import type { Fault, RequestedApplication } from '../request/read-parameters.ts'
import { answerableBy } from '../request/request-object.ts'
import { toLoginApplication } from './login-application.ts'
import { answerMistake, logShutOut, refuseUnknown, showMistake } from './refuse-request.ts'
import { readRequest } from '../request/read-request.ts'
import { requestFacts } from '../request/request-facts.ts'
import { beginRequest, advance, emptyRegistration } from '../request/request-row.ts'

/** The cookie of a call, and the browser that it leads to. */
export interface Visit {
  value: string
  browser: Browser | undefined
  now: Date
}

/** Begins a request, or answers it at once. */
export async function begin(
  context: Context,
  sent: Parameters,
  visit: Visit,
  call: Call,
  restarts = false,
): Promise<PageAnswer> {
  const reading = await readRequest(context, sent, call)
  if ('notice' in reading) return refuseUnknown(context, sent, reading, call)
  const parameters = answerableBy(sent, reading)
  const baseUri = reading.application.oidc.loginBaseUri
  if ('mistake' in reading) {
    // Who is signed in at a login application, Roster does not know.
    const goesBack =
      isSilent(parameters) || (baseUri === undefined && (await isAnyoneSignedIn(context, reading, visit, call)))
    if (goesBack) return answerMistake(context, parameters, reading, call)
    return showMistake(context, parameters, reading, call)
  }
  context.arrivals.step(parameters.clientId, 'request')
  if (baseUri !== undefined) return toLoginApplication(context, baseUri, parameters, call)
  const { asked } = reading
  const silent = isSilent(parameters)
  const facts = requestFacts(asked, visit.now, {})
  const stage = silent ? 'silent' : 'page'
  const candidates = await findCandidates(context, reading, { ...visit, stage, facts }, call)
  const answer = (outcome: Outcome) => answerApplication(issuerOf(context.config), parameters, outcome, false)
  const chosen = silent ? chooseSilently(candidates) : chooseAlone(candidates, asked.prompts, parameters.loginHint)
  if (silent && !chosen) logShutOut(context, parameters, candidates, 'answer', call)
  if (chosen === 'several') return answer({ fault: 'account_selection_required' })
  if (silent && isHidden(chosen, candidates)) return answer({ fault: 'consent_required' })
  const lacks = chosen && 'missing' in chosen.verdict ? chosen.verdict.missing : []
  if (silent && (!chosen || lacks[0])) return answer({ fault: lacks[0] ? faultOf(lacks[0]) : 'login_required' })
  if (chosen && lacks.length === 0) {
    const outcome = await answerAtOnce(
      context,
      chosen,
      { stage, browser: visit.browser!, parameters, asked, facts, requestId: undefined },
      call,
    )
    if (outcome) return answer(outcome)
  }
  const registers = asked.prompts.includes('create')
  return storeRequest(context, parameters, visit, { candidates, chosen, restarts, registers }, call)
}

// A faulty request asks for nothing by which one of them could be shut out.
async function isAnyoneSignedIn(
  context: Context,
  requested: RequestedApplication,
  visit: Visit,
  call: Call,
): Promise<boolean> {
  const facts = requestFacts(undefined, visit.now, {})
  return (await findCandidates(context, requested, { ...visit, stage: 'page', facts }, call)).length > 0
}

// By a hint, an organization or `max_age` an application could ask who a person is that did not let it in.
function isHidden(chosen: Candidate | undefined, candidates: Candidate[]): boolean {
  return chosen ? !chosen.isKnown : candidates.some(({ isKnown }) => !isKnown)
}

function faultOf({ what }: Lack): Fault {
  if (what === 'account') return 'account_selection_required'
  if (what === 'consent') return 'consent_required'
  if (what === 'unmet-context') return 'unmet_authentication_requirements'
  return what === 'click' ? 'interaction_required' : 'login_required'
}

// Each answer may be redeemed, which stores events. Each replica counts for itself.
const bucketOf = createRecent(createBucket, 60_000)

function takeAnswer(sessionId: string, applicationId: string): boolean {
  const now = performance.now()
  const bucket = bucketOf(`${sessionId} ${applicationId}`, now)
  wear(bucket, 1, now, 60)
  if (wait(bucket, 1, 1, 60) > 0) {
    limitsHit.add(1, 'answers_at_once')
    return false
  }
  bucket.used++
  return true
}

// Undefined where it changed meanwhile that nothing is missing: then a page says so.
async function answerAtOnce(
  context: Context,
  { signedInUser, reads }: Candidate,
  grantable: Omit<Grantable, 'signedInUser' | 'reads'>,
  call: Call,
): Promise<Outcome | undefined> {
  const { sessionId, application } = signedInUser
  if (!takeAnswer(sessionId, application.id)) return { fault: 'temporarily_unavailable' }
  const granted = await grantCode(context, { ...grantable, signedInUser, reads }, call)
  if ('code' in granted) return granted
  return grantable.stage === 'silent' ? { fault: 'login_required' } : undefined
}

interface StoredRequest {
  candidates: Candidate[]
  chosen: Candidate | undefined
  restarts?: boolean
  /** Its first page is that for registering. */
  registers?: boolean
}

/** Stores a request of the browser, and leads to its page. */
export async function storeRequest(
  context: Context,
  parameters: Parameters,
  { value, browser }: Visit,
  { candidates, chosen, restarts = false, registers = false }: StoredRequest,
  { clientAddress }: Call,
): Promise<PageAnswer> {
  if (browser) await seeBrowser(context.sql, browser)
  const made = browser ? undefined : newCookie(value)
  const id = await beginRequest(context, {
    parameters,
    browserId: browser?.id,
    ...(made && { newBrowser: made.hash }),
    address: candidates.length > 0 ? '' : clientAddress,
    sessionId: chosen?.signedInUser.sessionId,
    userId: chosen?.signedInUser.userId,
    restarts,
  })
  if (registers) {
    const registration = emptyRegistration(parameters.loginHint)
    await orUnavailable(advance(context.keys, id, { registration })(context.sql))
  }
  return { ...toPage(id), newBrowser: made?.newValue ?? '' }
}
