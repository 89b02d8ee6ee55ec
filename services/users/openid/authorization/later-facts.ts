import { type Existing, exists, type Read } from '#lib/eventstore/aggregate'
import { loadReads } from '#lib/eventstore/load-reads'
import type { ServiceCall } from '#lib/rpc/call'
import { type KnownApplication, loadApplication } from '../applications/find-application.ts'
import type { Context } from '../../context.ts'
import { scopesOfClaims } from '../tokens/claims.ts'
import type { InitialStage, Stage, Facts, GrantedBefore } from '../judge/facts.ts'
import { lowestAcr } from '../acr.ts'
import { type Allowed, isAllowed, judge, type Verdict } from '../judge/judge.ts'
import { type Authorization, authorizationType } from '../events/authorization.ts'
import { standsFor } from '../../sessions/browsers/trusted-browser.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import type { ReadCode, SealedGrant } from './sealed-code.ts'
import { type SignedInUser, factsFrom, keysOf, loadSignedInUser, type LoadedUser } from './facts-of.ts'

/** An authorization with what its person and its application are known by. */
export interface LoadedAuthorization extends LoadedUser {
  authorization: Read<Existing<Authorization>>
}

/** The stages of those who have something of an authorization. */
export type LaterStage = Exclude<Stage, InitialStage>

/** Undefined where there is none. UNAVAILABLE STORE_UNAVAILABLE. */
export function loadAuthorization({ store }: Pick<Context, 'store'>, id: string) {
  return store.load<Authorization>(authorizationType, id)
}

/**
 * The authorization that a code names: where nothing is stored yet, as the code carries it. Then what it stands on is read
 * in the same statement, for a context that remembers it.
 */
export async function loadOfCode(
  context: Context,
  { authorizationId, sealed }: ReadCode,
): Promise<LoadedAuthorization['authorization'] | undefined> {
  const [read] = await Promise.all([
    context.store.read<Authorization>({ type: authorizationType, id: authorizationId }),
    sealed && readAhead(context, sealed),
  ])
  if (exists(read)) return read
  if (!sealed || read.sequence > 0) return undefined
  const { organizationId, granted: state, givenAt } = sealed
  return { ...read, organizationId, createdAt: new Date(givenAt), state }
}

async function readAhead(context: Context, { organizationId, projectOrganizationId, granted }: SealedGrant) {
  const { userId, sessionId, applicationId, projectId } = granted
  const keys = keysOf({ userId, sessionId, organizationId, applicationId, projectId, projectOrganizationId })
  await Promise.all([loadReads(context.store, keys), loadLoginPolicy(context, organizationId)])
}

/**
 * Undefined where there is no such authorization, or its application is removed. `client`: who asks, and perhaps is that
 * application. UNAVAILABLE; errors of grants.
 */
export async function findAuthorization(
  context: Context,
  authorization: LoadedAuthorization['authorization'] | undefined,
  call: ServiceCall,
  client?: Pick<KnownApplication, 'application' | 'project'>,
): Promise<LoadedAuthorization | undefined> {
  if (!authorization) return undefined
  const { applicationId, userId, sessionId } = authorization.state
  const known = client?.application.id === applicationId ? client : await loadApplication(context, { applicationId })
  if (!known?.application.oidc) return undefined
  const { project } = known
  const application = { ...known.application, oidc: known.application.oidc }
  const { organizationId } = authorization
  const unloaded = { userId, organizationId, sessionId, browserId: undefined, application, project }
  return { authorization, ...(await loadSignedInUser(context, unloaded, call)) }
}

/** The facts, from the authorization and the aggregates of `factKeys`, which a decision has in its `reads`. Pure. */
export function laterFacts(
  signedInUser: SignedInUser,
  authorization: Authorization | undefined,
  reads: Parameters<typeof factsFrom>[1],
  now: Date,
): Facts {
  const { human } = reads.user.state ?? {}
  const standsIn = standsFor(human, authorization?.trustId, signedInUser.policy)
  const granted = authorization && !authorization.ended ? { ...grantedBefore(authorization), standsIn } : undefined
  return { ...factsFrom(signedInUser, reads, undefined, now), authorization: granted }
}

function grantedBefore(authorization: Authorization): GrantedBefore {
  const { scope, claims, factors, offline, endsWithSession } = authorization
  const { userId, applicationId, sessionId, organizationScope, rounds, admittedBy, refreshTokens } = authorization
  return {
    userId,
    applicationId,
    sessionId,
    scopes: scope.split(' ').filter(Boolean),
    claimScopes: scopesOfClaims(claims),
    factors: factors.map((factor) => ({ ...factor, at: new Date(factor.at) })),
    acr: authorization.acr ?? lowestAcr,
    organizationScope,
    sessionBound: !offline || endsWithSession,
    rounds,
    admittedBy,
    // Where it has no refresh token, it is a few minutes older.
    usedAt: new Date(refreshTokens?.used.at(-1)?.at ?? refreshTokens?.since ?? authorization.authTime),
  }
}

/** Whether the person of an authorization may come by this stage, as of when it was read. Pure. */
export function judgeLater(stage: LaterStage, { authorization, signedInUser, reads }: LoadedAuthorization): Verdict {
  const now = authorization.readAt
  return judge(stage, laterFacts(signedInUser, authorization.state, reads, now), now)
}

/** The person of an access token at a stage. Undefined where what it stands on is over. */
export async function findPerson(
  context: Context,
  stage: LaterStage,
  authorizationId: string,
  call: ServiceCall,
): Promise<(LoadedAuthorization & { allowed: Allowed }) | undefined> {
  const loaded = await findAuthorization(context, await loadAuthorization(context, authorizationId), call)
  const verdict = loaded && judgeLater(stage, loaded)
  return verdict && isAllowed(verdict) ? { ...loaded, allowed: verdict } : undefined
}
