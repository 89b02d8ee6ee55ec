import type { ExplainSignInRequest } from '#gen/roster/users/v1/session_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Existing } from '#lib/eventstore/aggregate'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import {
  type ApplicationName,
  confirmFault,
  type KnownApplication,
  loadApplication,
} from '../../openid/applications/find-application.ts'
import { type SignedInUser, factsFrom, findAccess, readFacts } from '../../openid/authorization/facts-of.ts'
import { laterFacts, type LaterStage, loadAuthorization } from '../../openid/authorization/later-facts.ts'
import type { RequestRow } from '../../openid/request/request-row.ts'
import type { Context } from '../../context.ts'
import type { Facts } from '../../openid/judge/facts.ts'
import { judge, type Verdict } from '../../openid/judge/judge.ts'
import { findAskedRequest } from './asked-request.ts'
import { loadPersonPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import type { PersonPolicy } from '../../sessions/login-policy/login-policy.ts'
import type { Authorization, EndReason } from '../../openid/events/authorization.ts'
import type { User } from '../../directory/events/user.ts'

/** What is so at an application, for a user. */
export interface Assessment {
  /** `scopes`: the application may not ask for them. */
  verdict: Verdict | 'scopes'
  /** Undefined where there is no such application, or none that people sign in to. */
  facts: Facts | undefined
  user: User
  /** The user has no session, and is judged as if the first factor had just been right. */
  isSignedOut: boolean
  /** The caller may read the project, or that it is granted to the organization of the user. */
  seesProject: boolean
  /** The same as if the first factor had just been right on a page, whatever session there is. Only of a request. */
  next?: Verdict | 'scopes'
  /** The request that began. Undefined: none is asked for. Null: none that the caller may know. */
  row?: RequestRow | null | undefined
}

/** The application that is asked about, as the stage of pages finds it. UNAVAILABLE. */
export async function findAsked(
  context: Context,
  name: ApplicationName,
  call: Call,
): Promise<KnownApplication | undefined> {
  const copy = await loadApplication(context, name)
  const closed = (known: KnownApplication | undefined) => (isThere(known) ? undefined : 'closed')
  return (await confirmFault(context, name, copy, call, closed)).known
}

function isThere(known: KnownApplication | undefined): boolean {
  return known?.application.oidc !== undefined && known.application.isOpen && known.project.isOpen
}

/** Asks `judge` about the user at an application now. UNAVAILABLE; errors of grants. */
export async function assess(
  context: Context,
  request: ExplainSignInRequest,
  known: KnownApplication | undefined,
  { state: user, organizationId }: { state: User; organizationId: string },
  call: Call,
): Promise<Assessment> {
  const none: Assessment = {
    verdict: { shutOut: 'application' },
    facts: undefined,
    user,
    isSignedOut: false,
    seesProject: false,
    ...(request.requestId !== '' && { row: null }),
  }
  if (!known?.application.oidc) return none
  const { userId } = request
  const application = { ...known.application, oidc: known.application.oidc }
  const { project } = known
  const [access, policy] = await Promise.all([
    findAccess(context, project, { userId, organizationId }, call),
    loadPersonPolicy(context, { userId, organizationId }, call),
  ])
  const asked = { userId, organizationId, browserId: undefined, application, project, access, policy }
  const seesProject = await sees(asked, call)
  if (request.authorizationId !== '') {
    const found = await loadAuthorization(context, request.authorizationId)
    const judged = await judgeGiven(context, { userId, stage: 'refresh', found }, asked)
    return { ...none, ...judged, seesProject }
  }
  const now = await orUnavailable(readNow(context.sql))
  const { row, facts, sessionId } = await findAskedRequest(context, request, { asked, seesProject, now }, call)
  if (!facts) return { ...none, verdict: 'scopes', next: 'scopes', seesProject, row }
  const signedInUser = { ...asked, sessionId }
  const found = factsFrom(signedInUser, await readFacts(context, signedInUser), facts, now)
  const isSignedOut = !found.session?.isAlive || found.session.userId !== userId
  const signedIn = { ...found, session: justSignedIn(userId, policy, now) }
  const verdict = judge('page', isSignedOut ? signedIn : found, now)
  // Who signs in by name chooses the account.
  const next = judge('page', { ...signedIn, request: { ...facts, chosen: true } }, now)
  return { verdict, facts: found, user, isSignedOut, seesProject, next, row }
}

/** Whether the caller may learn what the project of an application checks. Errors of grants. */
export async function sees(
  { organizationId: home, project: { id, organizationId: owner }, access }: Omit<SignedInUser, 'sessionId'>,
  call: Call,
): Promise<boolean> {
  if (holds(await callerIn(call, owner), 'project.read', owner, id)) return true
  const isGranted = access?.some(({ byUserGrant }) => !byUserGrant) === true
  return isGranted && holds(await callerIn(call, home), 'project.read', home, id)
}

// A first factor that is right after the request began: so the request does not ask for it once more.
function justSignedIn(userId: string, { factors }: PersonPolicy, now: Date): NonNullable<Facts['session']> {
  const at = new Date(now.getTime() + 1)
  const checked = factors.map((kind) => ({ kind, at }))
  return { id: '', userId, isAlive: true, expiresAt: at, kept: false, factors: checked }
}

/** Ends that follow from what an authorization stands on. */
const fromElsewhere = new Set<EndReason>(['signed-out', 'shut-out'])

/** What an application has of a user. Another user's and another application's is none. */
export async function judgeGiven(
  context: Context,
  {
    userId,
    stage,
    found,
  }: { userId: string; stage: LaterStage; found: Pick<Existing<Authorization>, 'state'> | undefined },
  asked: Omit<SignedInUser, 'sessionId'>,
): Promise<Pick<Assessment, 'verdict' | 'facts'>> {
  const isOf = found?.state.userId === userId && found.state.applicationId === asked.application.id
  const state = isOf ? found.state : undefined
  const signedInUser = { ...asked, sessionId: state?.sessionId ?? '' }
  const [reads, now] = await Promise.all([readFacts(context, signedInUser), orUnavailable(readNow(context.sql))])
  const end = stage === 'refresh' ? state?.refreshTokens?.expiresAt : undefined
  const isLate = end !== undefined && now.getTime() >= Date.parse(end)
  const judged = (given: Authorization | undefined) => {
    const facts = laterFacts(signedInUser, given, reads, now)
    return { verdict: judge(stage, facts, now), facts }
  }
  const given = judged(isLate ? undefined : state)
  if (!state?.ended || isLate || !fromElsewhere.has(state.ended)) return given
  // What ended it says more than that it has ended.
  const { ended: _, ...before } = state
  const cause = judged(before)
  return 'shutOut' in cause.verdict ? cause : given
}
