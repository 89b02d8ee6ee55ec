import { type Found, loadReads } from '#lib/eventstore/load-reads'
import type { ReadBy } from '#lib/eventstore/reads'
import { RosterError } from '#lib/errors'
import type { ServiceCall } from '#lib/rpc/call'
import { isOpen } from '../../../organization-status.ts'
import { closureKey, openness } from '../applications/closures.ts'
import type { ProjectCopy } from '../applications/application-copy.ts'
import type { Context } from '../../context.ts'
import { beganSinceOpen, statuses } from '../../directory/organizations/statuses.ts'
import type { Admission, Facts, RequestFacts } from '../judge/facts.ts'
import { livingPasskeys } from '../../directory/events/passkeys.ts'
import { standsFor } from '../../sessions/browsers/trusted-browser.ts'
import { maySetUp } from '../../sessions/factors/asked-first.ts'
import { factorKinds, secondFactors } from '../../sessions/factors/kinds.ts'
import { ownFactors, type PersonPolicy } from '../../sessions/login-policy/login-policy.ts'
import { loadPersonPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { consentKey, isGiven } from '../events/consent.ts'
import type { BrowserSession } from '../../sessions/browsers/browser-sessions.ts'
import { sessionKey } from '../../sessions/events/session.ts'
import { outlives } from '../../directory/events/sign-outs.ts'
import { userKey } from '../../directory/events/user.ts'
import type { RequestedApplication } from '../request/read-parameters.ts'

/** A person with a session in a browser, before an application. */
export interface SignedInUser extends RequestedApplication {
  /** The session must be one of it. Undefined at the stages without a browser. */
  browserId: string | undefined
  sessionId: string
  use?: BrowserSession['use']
  userId: string
  organizationId: string
  access: Admission[] | undefined
  policy: PersonPolicy
}

/** What a signed-in user begins with. */
export type UnloadedUser = Omit<SignedInUser, 'access' | 'policy'>

/** The aggregates that the facts come from. A decision that depends on the facts reads them. */
export function factKeys({ application, project, ...ids }: UnloadedUser) {
  const { organizationId: projectOrganizationId } = project
  return keysOf({ ...ids, applicationId: application.id, projectId: project.id, projectOrganizationId })
}

/** The same, by ids alone. */
export function keysOf(ids: Record<`${'user' | 'session' | 'application' | 'project'}Id` | OfOrganization, string>) {
  return {
    user: userKey(ids.userId),
    session: sessionKey(ids.sessionId),
    status: statuses.key(ids.organizationId),
    ofProject: statuses.key(ids.projectOrganizationId),
    closure: closureKey('application', ids.applicationId),
    projectClosure: closureKey('project', ids.projectId),
    consent: consentKey(ids.applicationId, ids.userId),
  }
}

type OfOrganization = 'organizationId' | 'projectOrganizationId'

type FactKeys = ReturnType<typeof factKeys>

/** The facts, from the aggregates of `factKeys`. Pure. */
export function factsFrom(
  signedInUser: SignedInUser,
  read: ReadBy<FactKeys>,
  request: RequestFacts | undefined,
  now: Date,
): Facts {
  const { browserId, sessionId, userId, organizationId, access, policy, application, project } = signedInUser
  const { session: begun, status: ofHome } = read
  const [user, session, consent] = [read.user.state, begun.state, read.consent.state]
  const own = ownFactors(user?.human, policy)
  const [status, ofProject] = [ofHome.state, read.ofProject.state]
  return {
    user: user && {
      id: userId,
      organizationId,
      isActive: isActive(user),
      secondFactors: own.demanded,
      furtherFactors: own.further,
      passwordMustChange: own.passwordMustChange,
      passwordByLink: own.passwordByLink,
      linked: own.linked,
      can: {
        prove: secondFactors.filter((kind) => factorKinds[kind].second!.isReady(user, policy)),
        // Whom a mailed code lets in adds nothing by that.
        setUp: policy.factors.includes('mailed-code')
          ? []
          : secondFactors.filter((kind) => maySetUp([kind], user.human)),
        usePasskey: livingPasskeys(user.human, policy).some(({ secondOnly }) => !secondOnly),
      },
      signOuts: user.signOuts,
      keptSession: user.keptSession,
    },
    organization: { isOpen: isOpen({ state: status }), revision: status?.sequence ?? 0 },
    projectOrganization: { isOpen: isOpen({ state: ofProject }), revision: ofProject?.sequence ?? 0 },
    application: { ...application, ...openness(read.closure.state) },
    project: { ...project, ...openness(read.projectClosure.state) },
    access,
    session: session && {
      id: sessionId,
      userId: session.userId,
      isAlive:
        !session.ended &&
        (browserId === undefined || session.browserId === browserId) &&
        Date.parse(session.expiresAt) > now.getTime() &&
        beganSinceOpen(begun, ofHome) &&
        outlives(user, sessionId, session.signOuts ?? 0),
      expiresAt: new Date(session.expiresAt),
      kept: session.kept === true,
      trustId: session.trustId,
      standsIn: standsFor(user?.human, session.trustId, policy, now),
      factors: (session.factors ?? []).map((factor) => ({ ...factor, at: new Date(factor.at) })),
    },
    authorization: undefined,
    consent: { isGiven: isGiven(consent), scopes: consent?.scopes ?? [], revision: consent?.withdrawals ?? 0 },
    request,
    policy,
  }
}

/** A signed-in user with the aggregates of `factKeys`. */
export interface LoadedUser {
  signedInUser: SignedInUser
  reads: Found<FactKeys>
}

/** Reads all of it together, since loads of the same moment share a statement. UNAVAILABLE; errors of grants. */
export async function loadSignedInUser(
  context: Context,
  unloaded: UnloadedUser,
  call: ServiceCall,
): Promise<LoadedUser> {
  const [reads, access, policy] = await Promise.all([
    readFacts(context, unloaded),
    findAccess(context, unloaded.project, unloaded, call),
    loadPersonPolicy(context, unloaded, call),
  ])
  return { signedInUser: { ...unloaded, access, policy }, reads }
}

/** The aggregates of `factKeys`. UNAVAILABLE STORE_UNAVAILABLE. */
export function readFacts({ store }: Pick<Context, 'store'>, unloaded: UnloadedUser): Promise<LoadedUser['reads']> {
  return loadReads(store, factKeys(unloaded))
}

/** What lets a user into a project that checks who comes: grants is asked each time, unless they are of its owner. */
export async function findAccess(
  { grants }: Pick<Context, 'grants'>,
  { id: projectId, roleCheck, hasProjectCheck, organizationId: owner }: ProjectCopy,
  { userId, organizationId }: { userId: string; organizationId: string },
  call: ServiceCall,
): Promise<Admission[] | undefined> {
  if (!roleCheck && (!hasProjectCheck || organizationId === owner)) return undefined
  try {
    const asked = { userId, projectId, userOrganizationId: organizationId }
    const { admissions } = await grants.listProjectRoles(asked, call)
    return admissions.map(({ since, ...admission }) => ({ ...admission, since: since! }))
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'PROJECT_NOT_FOUND') return undefined
    throw error
  }
}
